//! Compression, with a limit for the inflated size.

use std::io::{Read, Write};

use flate2::{
    Compression, Decompress, FlushDecompress, Status, bufread::GzDecoder, write::GzEncoder,
    write::ZlibEncoder,
};

use super::{MAX_LIST_BYTES, StatusError};

/// The growth of the output in one step, in bytes, so that a short list takes little memory.
const CHUNK: usize = 64 * 1024;

/// Inflates DEFLATE in the ZLIB format (RFC 1950): the whole input, with a correct checksum, up to the limit.
pub(super) fn from_zlib(compressed: &[u8]) -> Result<Vec<u8>, StatusError> {
    let mut state = Decompress::new(true);
    let mut inflated = Vec::new();
    loop {
        let consumed = usize::try_from(state.total_in()).map_err(|_| StatusError::Compression)?;
        let rest = compressed.get(consumed..).unwrap_or_default();
        let before = (consumed, inflated.len());
        inflated.reserve(CHUNK);
        let status = state
            .decompress_vec(rest, &mut inflated, FlushDecompress::None)
            .map_err(|_| StatusError::Compression)?;
        if inflated.len() > MAX_LIST_BYTES {
            return Err(StatusError::TooLarge);
        }
        let consumed = usize::try_from(state.total_in()).map_err(|_| StatusError::Compression)?;
        match status {
            Status::StreamEnd if consumed == compressed.len() => {
                inflated.shrink_to_fit();
                return Ok(inflated);
            }
            Status::StreamEnd => return Err(StatusError::Compression),
            // The stream was cut off.
            _ if (consumed, inflated.len()) == before => return Err(StatusError::Compression),
            _ => {}
        }
    }
}

/// Inflates one GZIP member (RFC 1952): the whole input, with a correct checksum, up to the limit.
pub(super) fn from_gzip(compressed: &[u8]) -> Result<Vec<u8>, StatusError> {
    let mut rest = compressed;
    let mut inflated = Vec::new();
    let limit = u64::try_from(MAX_LIST_BYTES).unwrap_or(u64::MAX);
    GzDecoder::new(&mut rest)
        .take(limit.saturating_add(1))
        .read_to_end(&mut inflated)
        .map_err(|_| StatusError::Compression)?;
    if inflated.len() > MAX_LIST_BYTES {
        return Err(StatusError::TooLarge);
    }
    if rest.is_empty() {
        inflated.shrink_to_fit();
        Ok(inflated)
    } else {
        Err(StatusError::Compression)
    }
}

/// Compresses as far as possible (Token Status List §4.1).
pub(super) fn to_zlib(bytes: &[u8]) -> Result<Vec<u8>, StatusError> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder
        .write_all(bytes)
        .and_then(|()| encoder.finish())
        .map_err(|_| StatusError::Compression)
}

/// Compresses as far as possible, without a name or a time.
pub(super) fn to_gzip(bytes: &[u8]) -> Result<Vec<u8>, StatusError> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder
        .write_all(bytes)
        .and_then(|()| encoder.finish())
        .map_err(|_| StatusError::Compression)
}
