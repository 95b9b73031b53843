//! Embedded files, served at addresses that change with their content, so that browsers may cache them for ever.

use std::sync::OnceLock;

use axum::response::IntoResponse as _;
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use selfsame_crypto::{encoding, hash};

use crate::error::{Handled, Problem};

/// One embedded file.
pub struct Asset {
    /// Its name.
    pub name: &'static str,
    /// Its content type.
    pub content_type: &'static str,
    /// Its content.
    pub body: &'static str,
}

/// Files that have one version together.
pub struct Assets {
    files: &'static [Asset],
    version: OnceLock<String>,
}

impl Assets {
    /// These files.
    pub const fn of(files: &'static [Asset]) -> Self {
        Self {
            files,
            version: OnceLock::new(),
        }
    }

    /// The version for their addresses. It changes when any file does.
    pub fn version(&self) -> &str {
        self.version.get_or_init(|| {
            let parts: Vec<&[u8]> = self.files.iter().map(|file| file.body.as_bytes()).collect();
            let digest = hash::sha256_parts(&parts);
            encoding::base64url_encode(digest.get(..9).unwrap_or(&digest))
        })
    }

    /// The response with this version of a file.
    ///
    /// # Errors
    /// If there is no such file or version.
    pub fn serve(&self, version: &str, name: &str) -> Handled {
        let mut files = self.files.iter();
        let file = files.find(|file| file.name == name && version == self.version());
        let Some(file) = file else {
            return Err(Problem::new(StatusCode::NOT_FOUND, "file-unknown"));
        };
        let headers = [
            (CONTENT_TYPE, file.content_type),
            (CACHE_CONTROL, "public, max-age=31536000, immutable"),
        ];
        Ok((headers, file.body).into_response())
    }
}
