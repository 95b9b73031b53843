//! The pages' static files, embedded, each served at an address derived from the content.

use std::sync::OnceLock;

use axum::response::IntoResponse;
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use selfsame_crypto::{encoding, hash};

use crate::error::{Answer, Problem};
use crate::extract::Path;

/// One embedded file.
struct Asset {
    name: &'static str,
    content_type: &'static str,
    body: &'static str,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";
const ASSETS: [Asset; 11] = [
    Asset {
        name: "app.css",
        content_type: "text/css; charset=utf-8",
        body: include_str!("../assets/app.css"),
    },
    Asset {
        name: "app.js",
        content_type: SCRIPT,
        body: include_str!("../assets/app.js"),
    },
    Asset {
        name: "copy.js",
        content_type: SCRIPT,
        body: include_str!("../assets/copy.js"),
    },
    Asset {
        name: "ledger.js",
        content_type: SCRIPT,
        body: include_str!("../assets/ledger.js"),
    },
    Asset {
        name: "live.js",
        content_type: SCRIPT,
        body: include_str!("../assets/live.js"),
    },
    Asset {
        name: "once.js",
        content_type: SCRIPT,
        body: include_str!("../assets/once.js"),
    },
    Asset {
        name: "result.js",
        content_type: SCRIPT,
        body: include_str!("../assets/result.js"),
    },
    Asset {
        name: "scan.js",
        content_type: SCRIPT,
        body: include_str!("../assets/scan.js"),
    },
    Asset {
        name: "stream.js",
        content_type: SCRIPT,
        body: include_str!("../assets/stream.js"),
    },
    Asset {
        name: "mark.svg",
        content_type: "image/svg+xml",
        body: include_str!("../assets/mark.svg"),
    },
    Asset {
        name: "weave.svg",
        content_type: "image/svg+xml",
        body: include_str!("../assets/weave.svg"),
    },
];

/// The address of an asset. It changes when any asset does, so browsers may cache it for ever.
pub fn url(name: &str) -> String {
    format!("/assets/{}/{name}", digest())
}

/// Serves one asset.
pub async fn serve(Path((version, name)): Path<(String, String)>) -> Answer {
    let asset = ASSETS
        .iter()
        .find(|asset| asset.name == name && version == digest());
    let Some(asset) = asset else {
        return Err(Problem::new(StatusCode::NOT_FOUND, "there is no such file"));
    };
    let headers = [
        (CONTENT_TYPE, asset.content_type),
        (CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    Ok((headers, asset.body).into_response())
}

fn digest() -> &'static str {
    static DIGEST: OnceLock<String> = OnceLock::new();
    DIGEST.get_or_init(|| {
        let parts: Vec<&[u8]> = ASSETS.iter().map(|asset| asset.body.as_bytes()).collect();
        let digest = hash::sha256_parts(&parts);
        encoding::base64url_encode(digest.get(..9).unwrap_or(&digest))
    })
}
