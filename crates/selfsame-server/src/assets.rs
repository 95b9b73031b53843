//! The pages' static files, embedded.

use selfsame_http::assets::{Asset, Assets};

use crate::error::Handled;
use crate::extract::Path;

const SCRIPT: &str = "text/javascript; charset=utf-8";
static ASSETS: Assets = Assets::of(&[
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
        name: "offer.js",
        content_type: SCRIPT,
        body: include_str!("../assets/offer.js"),
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
]);

/// The address of an asset.
pub fn url(name: &str) -> String {
    format!("/assets/{}/{name}", ASSETS.version())
}

/// Serves one asset.
pub async fn serve(Path((version, name)): Path<(String, String)>) -> Handled {
    ASSETS.serve(&version, &name)
}
