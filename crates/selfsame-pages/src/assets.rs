//! The pages' static files, embedded, at addresses that change with their content, so that browsers may cache them for
//! ever.

use std::sync::OnceLock;

use selfsame_crypto::{encoding, hash};

use crate::look;

const SCRIPT: &str = "text/javascript; charset=utf-8";
static FILES: [Asset; 19] = [
    Asset {
        name: "agent.css",
        content_type: "text/css; charset=utf-8",
        body: include_str!("../assets/agent.css"),
    },
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
        name: "awaited.js",
        content_type: SCRIPT,
        body: include_str!("../assets/awaited.js"),
    },
    Asset {
        name: "browser.js",
        content_type: SCRIPT,
        body: include_str!("../assets/browser.js"),
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
        name: "passkeys.js",
        content_type: SCRIPT,
        body: include_str!("../assets/passkeys.js"),
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
        name: "types.js",
        content_type: SCRIPT,
        body: include_str!("../assets/types.js"),
    },
    Asset {
        name: "suggest.js",
        content_type: SCRIPT,
        body: include_str!("../assets/suggest.js"),
    },
    Asset {
        name: "visit.js",
        content_type: SCRIPT,
        body: include_str!("../assets/visit.js"),
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

/// The script that other people's pages load, at an address that stays.
pub static EMBED: Asset = Asset {
    name: "embed.js",
    content_type: SCRIPT,
    body: include_str!("../assets/embed.js"),
};

/// An embedded file.
pub struct Asset {
    /// Its name.
    pub name: &'static str,
    /// Its content type.
    pub content_type: &'static str,
    /// Its content.
    pub body: &'static str,
}

/// The address of a file.
pub fn url(name: &str) -> String {
    format!("/assets/{}/{name}", version())
}

/// The file with this version and name.
pub fn find(of_version: &str, name: &str) -> Option<&'static Asset> {
    let found = FILES.iter().find(|file| file.name == name);
    found.filter(|_| of_version == version())
}

/// The style sheet of a card's colours, which is made from its name.
pub fn colors(of_version: &str, name: &str) -> Option<String> {
    look::sheet(name).filter(|_| of_version == version())
}

/// The version of all files together. It changes when any of them does.
fn version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let parts: Vec<&[u8]> = FILES.iter().map(|file| file.body.as_bytes()).collect();
        let digest = hash::sha256_parts(&parts);
        encoding::base64url_encode(digest.get(..9).unwrap_or(&digest))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_at_its_address_and_at_no_other() {
        let address = url("app.css");
        let (version, name) = address["/assets/".len()..].split_once('/').unwrap();
        assert_eq!(find(version, name).unwrap().name, "app.css");
        assert!(find("old", name).is_none() && find(version, "other.css").is_none());
    }
}
