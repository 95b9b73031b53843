//! Images in `data:` URIs: their format, their size, and what an SVG contains. Nothing is decoded: the header alone
//! tells how many pixels a decoder would have to make room for.

mod drawing;
mod pictogram;
mod svg;

use imagesize::ImageType;
use selfsame_crypto::encoding;
use selfsame_driver::{Error, ErrorKind, Reason};

pub use drawing::Drawing;
pub use pictogram::pictogram;

/// Maximum size of an image of a card, and of a logo, in bytes.
pub const CARD_IMAGE_BYTES_MAX: usize = 64 * 1024;
/// Maximum number of pixels of one side.
const SIDE_MAX: usize = 4_096;
/// Maximum number of pixels.
const PIXELS_MAX: usize = 8_000_000;
/// The media types, with the format that the first bytes show.
const MEDIA: [(&str, Option<ImageType>); 4] = [
    ("image/png", Some(ImageType::Png)),
    ("image/jpeg", Some(ImageType::Jpeg)),
    ("image/webp", Some(ImageType::Webp)),
    (SVG, None),
];
const SVG: &str = "image/svg+xml";

/// An image that was checked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Picture {
    /// Its media type.
    pub media: &'static str,
    /// The file's bytes.
    pub bytes: Vec<u8>,
}

/// Reads an image from a `data:` URI (RFC 2397) of PNG, JPEG, WebP or SVG in base64, of at most `most` bytes.
///
/// # Errors
/// A reason that says what is wrong with it.
pub fn picture(uri: &str, most: usize) -> Result<Picture, Reason> {
    let (media, data) = uri
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"))
        .ok_or(Reason::new("image-not-data"))?;
    let (media, format) = MEDIA
        .into_iter()
        .find(|(known, _)| *known == media)
        .ok_or_else(|| {
            Reason::new("image-media").with("media", media.get(..40).unwrap_or(media))
        })?;
    // Base64 writes three bytes as four characters.
    if data.len() / 4 * 3 > most.saturating_add(3) {
        return Err(too_large(most));
    }
    let bytes = encoding::base64_decode(data).map_err(|_| Reason::new("image-base64"))?;
    if bytes.len() > most {
        return Err(too_large(most));
    }
    match format {
        Some(format) => check_pixels(&bytes, format)?,
        None => svg::check(&bytes)?,
    }
    Ok(Picture { media, bytes })
}

/// An image file as a `data:` URI that [`picture`] accepts, at most `most` bytes large. Its first bytes say which format
/// it has; a text is taken for an SVG.
///
/// # Errors
/// A reason that says what is wrong with it.
pub fn data_uri(file: &[u8], most: usize) -> Result<String, Reason> {
    let found = imagesize::image_type(file).ok();
    let known = MEDIA
        .into_iter()
        .find(|(_, format)| format.is_some() && *format == found);
    let media = match known {
        Some((media, _)) => media,
        None if found.is_none() && std::str::from_utf8(file).is_ok() => SVG,
        None => return Err(Reason::new("image-media").with("media", "the file")),
    };
    let uri = format!("data:{media};base64,{}", encoding::base64_encode(file));
    picture(&uri, most)?;
    Ok(uri)
}

fn too_large(most: usize) -> Reason {
    Reason::new("image-bytes").with("maximum", &most)
}

fn check_pixels(bytes: &[u8], format: ImageType) -> Result<(), Reason> {
    let is_it = imagesize::image_type(bytes).is_ok_and(|found| found == format);
    if !is_it {
        return Err(Reason::new("image-other-media"));
    }
    let size = imagesize::blob_size(bytes).map_err(|_| Reason::new("image-header"))?;
    let is_large = size.width > SIDE_MAX
        || size.height > SIDE_MAX
        || size.width.saturating_mul(size.height) > PIXELS_MAX;
    if is_large || size.width == 0 || size.height == 0 {
        return Err(Reason::new("image-pixels")
            .with("width", &size.width)
            .with("height", &size.height)
            .with("maximum", &PIXELS_MAX));
    }
    Ok(())
}

/// The file of an organisation's logo as a `data:` URI.
///
/// # Errors
/// `BadRequest` for a file that is no safe image.
pub fn logo_uri(file: &[u8]) -> selfsame_driver::Result<String> {
    data_uri(file, CARD_IMAGE_BYTES_MAX).map_err(logo_refused)
}

/// The error for a logo that is refused for this reason.
#[must_use]
pub fn logo_refused(reason: Reason) -> Error {
    let refused = Reason::new("logo-refused").because(reason);
    Error::of(ErrorKind::BadRequest, refused)
}

#[cfg(test)]
mod tests;
