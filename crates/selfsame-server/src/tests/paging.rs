//! Every list of the API: its pages are bounded, and cursors are those that a page has given.

use http::StatusCode;
use selfsame_crypto::SecretString;
use serde_json::{Value, json};

use super::instance::{Answered, Instance, get, post};
use crate::router::openapi;

/// Cursors that no list gives.
const MADE_UP: [&str; 8] = [
    "x",
    "-1",
    "1.5",
    "%00",
    "18446744073709551616",
    "99999999999999999999999999999999",
    "..%2F..%2Fetc",
    "%F0%9F%98%80",
];
/// Limits that no page has.
const WRONG_LIMITS: [&str; 5] = ["0", "-1", "1e3", "many", "99999999999999999999999999"];

/// A list of the API by its description.
struct List {
    path: String,
    is_of_wallet: bool,
}

/// The operations whose answer is a page of a list.
fn lists() -> Vec<List> {
    let description: Value = serde_json::from_str(openapi::text()).unwrap();
    let paths = description["paths"].as_object().unwrap();
    let all = paths.iter().filter(|(path, item)| {
        let answer = &item["get"]["responses"]["200"]["content"]["application/json"]["schema"];
        let is_list = answer["$ref"]
            .as_str()
            .is_some_and(|name| name.contains("/Listing_") || name.contains("/Items_"));
        path.starts_with("/api/") && is_list
    });
    let list = |(path, item): (&String, &Value)| {
        let parameters = item["get"]["parameters"].as_array();
        let parameters: Vec<&str> = parameters
            .unwrap_or_else(|| panic!("{path} has no pages"))
            .iter()
            .map(|one| one["name"].as_str().unwrap())
            .collect();
        assert!(
            parameters.contains(&"after") && parameters.contains(&"limit"),
            "{path}"
        );
        List {
            path: path.clone(),
            is_of_wallet: path.starts_with("/api/wallet/"),
        }
    };
    all.map(list).collect()
}

/// An instance, a person's token for their wallet, a webhook, and an issuing list.
struct Host {
    instance: Instance,
    person: String,
    webhook: String,
    export: String,
    issuing: String,
}

impl Host {
    async fn start() -> Self {
        let instance = Instance::start().await;
        let accounts = instance.app.wallet().unwrap().accounts();
        let password = SecretString::new("a long walk in the rain".to_owned());
        let made = accounts.register_invited("rosa@example.org", password, None);
        let person = made.await.unwrap().token;
        let new = json!({"password": "a long walk in the rain"}).to_string();
        let begun = post("/api/wallet/exports").bearer(&person).json(&new);
        let begun: Value = serde_json::from_str(&instance.call(begun).await.body).unwrap();
        let export = begun["id"].as_str().unwrap().to_owned();
        let new = json!({"url": "https://hooks.example/in"}).to_string();
        let made = post("/api/webhooks").bearer(&instance.token).json(&new);
        let made = instance.call(made).await;
        let made: Value = serde_json::from_str(&made.body).unwrap();
        let webhook = made["id"].as_str().unwrap_or_default().to_owned();
        assert!(!webhook.is_empty(), "{made}");
        let new = json!({"type": "immunization", "kind": "csv"}).to_string();
        let made = post("/api/issuer/lists").bearer(&instance.token).json(&new);
        let made = instance.call(made).await;
        let made: Value = serde_json::from_str(&made.body).unwrap();
        let issuing = made["id"].as_str().unwrap_or_default().to_owned();
        assert!(!issuing.is_empty(), "{made}");
        let new = json!({"client_id": "rp", "redirect_uris": ["https://rp.example/cb"]});
        let made = post("/api/sign-in/clients").bearer(&instance.token);
        let made = instance.call(made.json(&new.to_string())).await;
        assert_eq!(made.status, StatusCode::CREATED, "{}", made.body);
        Self {
            instance,
            person,
            webhook,
            export,
            issuing,
        }
    }

    async fn asks(&self, list: &List, query: &str) -> Answered {
        let id = match list.is_of_wallet {
            true => &self.export,
            false if list.path.starts_with("/api/issuer/lists/") => &self.issuing,
            false => &self.webhook,
        };
        let path = list.path.replace("{id}", id).replace("{client_id}", "rp");
        let needed = match list.path.as_str() {
            "/api/registry/history" => {
                let did = self
                    .instance
                    .app
                    .main()
                    .issuer()
                    .unwrap()
                    .identity()
                    .did()
                    .to_string();
                format!("did={did}&")
            }
            path if path.ends_with("/deliveries") => "state=pending&".to_owned(),
            _ => String::new(),
        };
        let token = match list.is_of_wallet {
            true => &self.person,
            false => &self.instance.token,
        };
        let asked = get(&format!("{path}?{needed}{query}")).bearer(token);
        self.instance.call(asked).await
    }
}

#[tokio::test]
async fn each_list_has_bounded_pages_and_refuses_cursors_that_are_made_up() {
    let host = Host::start().await;
    let lists = lists();
    assert!(lists.len() > 18, "{}", lists.len());
    for list in &lists {
        let path = &list.path;
        for limit in ["1", "200", "1000000", "18446744073709551615"] {
            let page = host.asks(list, &format!("limit={limit}")).await;
            assert_eq!(page.status, StatusCode::OK, "{path} {limit}: {}", page.body);
            let page: Value = serde_json::from_str(&page.body).unwrap();
            let most = limit.parse::<usize>().unwrap().min(200);
            assert!(
                page["items"].as_array().unwrap().len() <= most,
                "{path} {limit}"
            );
        }
        for limit in WRONG_LIMITS {
            let page = host.asks(list, &format!("limit={limit}")).await;
            assert_eq!(
                page.status,
                StatusCode::BAD_REQUEST,
                "{path} {limit}: {}",
                page.body
            );
        }
        for cursor in MADE_UP {
            let page = host.asks(list, &format!("after={cursor}")).await;
            assert_eq!(
                page.status,
                StatusCode::BAD_REQUEST,
                "{path} {cursor}: {}",
                page.body
            );
            assert!(
                page.body.contains("cursor-invalid"),
                "{path} {cursor}: {}",
                page.body
            );
        }
        let enormous = "1".repeat(7_000);
        let page = host.asks(list, &format!("after={enormous}")).await;
        assert!(page.status.is_client_error(), "{path}: {}", page.status);
    }
}

#[tokio::test]
async fn the_pages_of_a_list_have_each_entry_once() {
    let host = Host::start().await;
    for list in &lists() {
        let whole = host.asks(list, "limit=200").await;
        let whole: Value = serde_json::from_str(&whole.body).unwrap();
        let whole = whole["items"].as_array().unwrap().clone();
        let (mut seen, mut query) = (Vec::new(), "limit=1".to_owned());
        // The audit trail is longer by each request that it tells.
        if list.path == "/api/audit" {
            continue;
        }
        loop {
            let page = host.asks(list, &query).await;
            let page: Value = serde_json::from_str(&page.body).unwrap();
            seen.extend(page["items"].as_array().unwrap().clone());
            match page["next"].as_str() {
                Some(next) => query = format!("limit=1&after={next}"),
                None => break,
            }
        }
        assert_eq!(seen, whole, "{}", list.path);
    }
}
