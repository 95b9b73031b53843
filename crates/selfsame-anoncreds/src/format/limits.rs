//! How much of anything is read. Each bound is far above what deployments use and far below what would hurt.

/// Attributes in a schema: the published implementations' own bound.
pub const MAX_ATTRIBUTES: usize = 125;
/// Bytes of an identifier, a tag, a name or a version.
pub const MAX_NAME: usize = 1_024;
/// Bytes of the raw value of one attribute; a small picture in base64 fits.
pub const MAX_RAW: usize = 1_024 * 1_024;
/// Decimal digits of an encoded value: 256 bits have 78.
pub const MAX_ENCODED: usize = 80;
/// Decimal digits of a nonce; the usual 80 bits have 25.
pub const MAX_NONCE: usize = 128;
/// Referents in a presentation request, attributes and predicates together.
pub const MAX_REFERENTS: usize = 512;
/// Credentials in one presentation.
pub const MAX_CREDENTIALS: usize = 64;
/// Clauses in the restrictions of one referent.
pub const MAX_CLAUSES: usize = 1_024;
/// Queries within each other in the restrictions of one referent.
pub const MAX_QUERY_DEPTH: usize = 8;
/// Places in a revocation registry; its tails file is then 268 MB long.
pub const MAX_REGISTRY: usize = 1_048_576;
