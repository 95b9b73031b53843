//! One process: who may manage clients, and what pages let other sites do.

use serde_json::json;
use tempfile::TempDir;

use crate::http::{Api, Reply};
use crate::instance::{Instance, free_port};
use crate::party::{CHALLENGE, REDIRECT_URI, form};
use crate::place::{SETTINGS, enveloped};

/// A process with the mock identity system.
struct Door {
    _folder: TempDir,
    _instance: Instance,
    operator: Api,
}

impl Door {
    fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = folder.path().join("settings.toml");
        std::fs::write(&settings, SETTINGS).unwrap();
        let data = folder.path().join("data");
        let arguments = ["--config", settings.to_str().unwrap()];
        let mut instance = Instance::start(&data, free_port(), &arguments);
        instance.ready();
        Self {
            operator: instance.operator(),
            _folder: folder,
            _instance: instance,
        }
    }

    /// A client that goes to an API key's holder.
    fn client(&self, id: &str) -> serde_json::Value {
        let key = selfsame_crypto::PrivateKey::generate_rsa().unwrap();
        json!({
            "clientId": id, "clientName": "A relying party",
            "publicKey": key.public().to_jwk().to_value(),
            "relyingPartyId": "party", "userClaims": ["name"],
            "authContextRefs": [crate::esignet::ACR],
            "logoUri": "https://rp.example/logo.png", "redirectUris": [REDIRECT_URI],
            "grantTypes": ["authorization_code"], "clientAuthMethods": ["private_key_jwt"],
        })
    }

    fn register(&self, token: &str, id: &str) -> Reply {
        let api = self.operator.with_token(token);
        let path = "/v1/esignet/client-mgmt/oidc-client";
        let body = enveloped(&self.client(id));
        api.send("POST", path, Some(&body)).unwrap()
    }

    /// An API key with these scopes.
    fn key(&self, rights: &[&str]) -> String {
        let key = json!({"name": "registrar", "scopes": rights});
        let made = self.operator.send("POST", "/api/keys", Some(&key));
        crate::party::member(&made.unwrap(), "/key")
    }
}

#[test]
fn an_api_key_with_the_right_to_change_settings_manages_clients_of_esignets_interface() {
    let door = Door::open();
    let (reads, writes) = (door.key(&["settings:read"]), door.key(&["settings:write"]));
    for (token, id) in [
        ("", "a"),
        (reads.as_str(), "b"),
        ("selfsame_wrong_key", "c"),
    ] {
        assert_eq!(door.register(token, id).status, 401, "{id}");
    }
    for (token, id) in [(writes.as_str(), "d"), (door.operator.token(), "e")] {
        let made = door.register(token, id);
        assert_eq!(made.json()["errors"], json!([]), "{made:?}");
    }
}

#[test]
fn no_page_of_a_sign_in_is_shown_within_another_site_or_leads_to_one() {
    let door = Door::open();
    assert_eq!(door.register(door.operator.token(), "party").status, 200);
    for redirect_uri in [
        "https://evil.example/cb",
        "javascript:alert(1)",
        "//evil.example",
    ] {
        let fields = [
            ("client_id", "party"),
            ("redirect_uri", redirect_uri),
            ("response_type", "code"),
            ("scope", "openid"),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
        ];
        let path = format!("/oidc/authorize?{}", form(&fields));
        let shown = door.operator.with_token("").send("GET", &path, None);
        let shown = shown.unwrap();
        assert_eq!((shown.status, shown.header("location")), (400, None));
        let policy = shown.header("content-security-policy").unwrap_or_default();
        assert!(policy.contains("frame-ancestors 'none'"), "{shown:?}");
    }
}

#[test]
fn the_cookies_of_a_sign_in_are_for_no_script_and_no_other_sites_forms() {
    let door = Door::open();
    assert_eq!(door.register(door.operator.token(), "party").status, 200);
    let fields = [
        ("client_id", "party"),
        ("redirect_uri", REDIRECT_URI),
        ("response_type", "code"),
        ("scope", "openid"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
    ];
    let path = format!("/oidc/authorize?{}", form(&fields));
    let begun = door.operator.with_token("").send("GET", &path, None);
    let begun = begun.unwrap();
    assert_eq!(begun.status, 303, "{begun:?}");
    let cookies: Vec<&str> = begun.all("set-cookie").collect();
    assert_eq!(cookies.len(), 1);
    for attribute in ["HttpOnly", "SameSite=Lax"] {
        assert!(cookies[0].contains(attribute), "{cookies:?}");
    }
    assert_eq!(begun.header("referrer-policy"), Some("no-referrer"));
}
