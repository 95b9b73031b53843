//! Limits of parsing. Each is far above what deployments use and far below what would exhaust resources.

/// Attributes in a schema; also the limit of the published implementations.
pub const MAX_ATTRIBUTES: usize = 125;
/// Bytes of an identifier, a tag, a name or a version.
pub const MAX_NAME: usize = 1_024;
/// Bytes of the raw value of one attribute; a small picture in base64 fits.
pub const MAX_RAW: usize = 1_024 * 1_024;
/// Decimal digits of an encoded value; a number of 256 bits has 78.
pub const MAX_ENCODED: usize = 80;
/// Decimal digits of a nonce; the usual number of 80 bits has 25.
pub const MAX_NONCE: usize = 128;
/// Referents in a presentation request, attributes and predicates together.
pub const MAX_REFERENTS: usize = 512;
/// Credentials in one presentation.
pub const MAX_CREDENTIALS: usize = 64;
/// Clauses in the restrictions of one referent.
pub const MAX_CLAUSES: usize = 1_024;
/// Nesting depth of the queries in the restrictions of one referent.
pub const MAX_QUERY_DEPTH: usize = 8;
/// Places in a revocation registry; its tails file is then 268 MB long.
pub const MAX_REGISTRY: usize = 1_048_576;
