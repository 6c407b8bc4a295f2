/** Node types of these belong to the host; users cannot define them. */
export const RESERVED_TYPE_PREFIXES = ['core.', 'openwop.', 'weft.', 'conformance.'] as const;
