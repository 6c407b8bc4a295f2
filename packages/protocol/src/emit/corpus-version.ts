/** The version of the protocol's texts that our documents describe: `info.version`, not the version of this host (RFC 0094 §I). */
export const CORPUS_VERSION = '1.1.0';
