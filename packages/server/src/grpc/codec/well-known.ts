/** The well-known types of google/protobuf/struct.proto, as they stand on the wire: field number and wire type in one tag. */

const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;

const tag = (number: number, wireType: number): number => (number << 3) | wireType;

/** map<string, Value> fields = 1, each entry with its key and value. */
export const STRUCT_FIELDS = {
  tag: tag(1, DELIMITED),
  keyTag: tag(1, DELIMITED),
  valueTag: tag(2, DELIMITED),
} as const;

export const VALUE = {
  nullTag: tag(1, VARINT),
  numberTag: tag(2, FIXED64),
  stringTag: tag(3, DELIMITED),
  boolTag: tag(4, VARINT),
  structTag: tag(5, DELIMITED),
  listTag: tag(6, DELIMITED),
} as const;

/** repeated Value values = 1. */
export const LIST_VALUE = { tag: tag(1, DELIMITED) } as const;
