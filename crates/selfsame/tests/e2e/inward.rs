//! Links that point to the machine or its network: refused with the reason, and nothing is sent there.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use url::Url;

use crate::foreign::{Key, Said, Stranger, foreign_credential, form, parameter};
use crate::http::{Api, Reply};
use crate::rig::{World, get, offer, post, text};

/// Listens on loopback, on both kinds of addresses, and counts connections.
struct Trap {
    port: u16,
    count: Arc<AtomicUsize>,
}

impl Trap {
    fn set() -> Self {
        let v4 = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = v4.local_addr().unwrap().port();
        let count = Arc::new(AtomicUsize::new(0));
        // On a machine without IPv6 nothing can be reached there.
        let v6 = TcpListener::bind(("::1", port)).ok();
        for listener in [Some(v4), v6].into_iter().flatten() {
            let count = count.clone();
            thread::spawn(move || {
                for _ in listener.incoming() {
                    count.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let trap = Self { port, count };
        // The counter works.
        std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        while trap.count.load(Ordering::SeqCst) == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        trap.count.store(0, Ordering::SeqCst);
        trap
    }

    fn assert_untouched(&self) {
        thread::sleep(Duration::from_millis(200));
        assert_eq!(
            self.count.load(Ordering::SeqCst),
            0,
            "something was sent inward"
        );
    }

    /// Addresses that lead here or to another internal host, in every spelling.
    fn addresses(&self) -> Vec<String> {
        let port = self.port;
        let mut hosts: Vec<String> = [
            "127.0.0.1",
            "localhost",
            "LOCALHOST.",
            "a.localhost",
            "[::1]",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "0177.0.0.1",
            "127.1",
            "127.0.0.2",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[::127.0.0.1]",
            "[64:ff9b::7f00:1]",
            "0.0.0.0",
            "[::]",
        ]
        .map(|host| format!("{host}:{port}"))
        .to_vec();
        hosts.extend(
            names_of_this_machine()
                .into_iter()
                .map(|name| format!("{name}:{port}")),
        );
        let elsewhere = [
            "10.0.0.1",
            "169.254.169.254",
            "192.168.0.1",
            "172.16.0.1",
            "100.64.0.1",
            "[fd00::1]",
            "[fe80::1]",
        ];
        hosts.extend(elsewhere.map(str::to_owned));
        let mut addresses: Vec<String> =
            hosts.iter().map(|host| format!("https://{host}")).collect();
        addresses.extend(
            ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("http://{host}:{port}")),
        );
        addresses.push(format!("https://user:password@127.0.0.1:{port}"));
        addresses.push(format!("ftp://127.0.0.1:{port}"));
        addresses.push("file:///etc/hostname".to_owned());
        addresses
    }
}

/// Names that resolve to internal addresses although they do not look like it: those of the hosts file, and the
/// machine's own.
fn names_of_this_machine() -> BTreeSet<String> {
    let hosts = std::fs::read_to_string("/etc/hosts").unwrap_or_default();
    let lines = hosts
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default());
    let mut names: BTreeSet<String> = lines
        .flat_map(|line| {
            line.split_whitespace()
                .skip(1)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect();
    names.extend(
        std::fs::read_to_string("/etc/hostname")
            .ok()
            .map(|name| name.trim().to_owned()),
    );
    // Some of them are link-local multicast groups, to which TCP can't send.
    names.retain(|name| {
        !name.is_empty() && !name.starts_with("ip6-all") && !name.starts_with("ip6-mcast")
    });
    names
}

/// A refusal that gives the reason, to the person and in the log.
#[track_caller]
fn assert_refused(what: &str, reply: &Reply) {
    let body = reply.json();
    assert!(
        (400..=502).contains(&reply.status),
        "{what}: {} {body}",
        reply.status
    );
    assert_ne!(reply.status, 500, "{what}: {body}");
    assert!(
        body["detail"]
            .as_str()
            .is_some_and(|detail| detail.len() > 10),
        "{what}: no reason in {body}"
    );
}

fn preview(person: &Api, link: &str) -> Reply {
    person
        .send(
            "POST",
            "/api/wallet/offers/preview",
            Some(&json!({"offer": link})),
        )
        .unwrap()
}

fn asked(person: &Api, link: &str) -> Reply {
    person
        .send(
            "POST",
            "/api/wallet/requests/preview",
            Some(&json!({"request": link})),
        )
        .unwrap()
}

fn link(scheme: &str, pairs: &[(&str, &str)]) -> String {
    format!("{scheme}://?{}", form(pairs))
}

#[test]
fn offers_that_point_inward_are_refused_and_nothing_is_sent_there() {
    let (trap, world) = (Trap::set(), World::start(&[]));
    let person = world.person("maja");
    for address in trap.addresses() {
        let reference = format!("{address}/offer");
        assert_refused(
            &reference,
            &preview(
                &person,
                &link(
                    "openid-credential-offer",
                    &[("credential_offer_uri", &reference)],
                ),
            ),
        );
        let made = offer(&world.operator, &json!({}));
        let mut value: Value =
            serde_json::from_str(&parameter(&text(&made, "uri"), "credential_offer").unwrap())
                .unwrap();
        value["credential_issuer"] = json!(format!("{address}/issuer"));
        let value = link(
            "openid-credential-offer",
            &[("credential_offer", &value.to_string())],
        );
        assert_refused(&address, &preview(&person, &value));
        let accepted = person
            .send(
                "POST",
                "/api/wallet/offers/accept",
                Some(&json!({"offer": value})),
            )
            .unwrap();
        assert_refused(&address, &accepted);
        assert_refused(&address, &preview(&person, &address));
    }
    trap.assert_untouched();
    let log = world.instance.log();
    assert!(
        log.contains("not a public one") || log.contains("https address"),
        "the log has no reason"
    );
}

#[test]
fn requests_that_point_inward_are_refused_and_nothing_is_sent_there() {
    let (trap, world) = (Trap::set(), World::start(&[]));
    let person = world.person("maja");
    let client = format!("decentralized_identifier:{}", Key::new().did());
    let query =
        json!({"credentials": [{"id": "a", "format": "dc+sd-jwt", "meta": {"vct_values": ["x"]}}]})
            .to_string();
    for address in trap.addresses() {
        let reference = format!("{address}/request");
        for method in ["get", "post"] {
            let pairs = [
                ("client_id", client.as_str()),
                ("request_uri", &reference),
                ("request_uri_method", method),
            ];
            assert_refused(&reference, &asked(&person, &link("openid4vp", &pairs)));
        }
        let response = format!("{address}/response");
        let prefixed = format!("redirect_uri:{response}");
        let plain = link(
            "openid4vp",
            &[
                ("client_id", &prefixed),
                ("response_type", "vp_token"),
                ("response_mode", "direct_post"),
                ("response_uri", &response),
                ("nonce", "abc"),
                ("state", "def"),
                ("dcql_query", &query),
            ],
        );
        // A preview sends nothing; an answer or a refusal would.
        let looked = asked(&person, &plain);
        if looked.is_success() {
            let declined = person.send(
                "POST",
                "/api/wallet/requests/decline",
                Some(&json!({"request": plain})),
            );
            let declined = declined.unwrap();
            let delivered = declined.json()["delivered"] == true;
            assert!(!delivered, "{address}: an answer was sent inward");
        } else {
            assert_refused(&address, &looked);
        }
    }
    trap.assert_untouched();
}

/// A wallet's response to an offer of a foreign issuer whose documents are ours, changed by `lead`.
fn led(trap: &Trap, lead: impl Fn(&Stranger, &str) -> Said + Send + Sync + 'static) -> Reply {
    let stranger = Arc::new(Stranger::new());
    let world = World::start(&["--trust-origin", stranger.origin.as_str()]);
    let own = world.instance.origin.as_str().trim_end_matches('/');
    let theirs = stranger.origin.as_str().trim_end_matches('/').to_owned();
    let document = |name: &str| {
        get(&world.anybody(), &format!("/.well-known/{name}/issuer"))
            .to_string()
            .replace(own, &theirs)
    };
    let documents = [
        document("openid-credential-issuer"),
        document("oauth-authorization-server"),
    ];
    let made = offer(&world.operator, &json!({}));
    let value = parameter(&text(&made, "uri"), "credential_offer")
        .unwrap()
        .replace(own, &theirs);
    let value = link("openid-credential-offer", &[("credential_offer", &value)]);
    let themselves = Arc::downgrade(&stranger);
    stranger.says(
        move |heard| match (heard.target.as_str(), themselves.upgrade()) {
            ("/issuer/token", _) => {
                Said::json(&json!({"access_token": "t", "token_type": "Bearer"}))
            }
            ("/issuer/nonce", _) => Said::json(&json!({"c_nonce": "n"})),
            (target, Some(stranger)) if target.starts_with("/.well-known/") => {
                lead(&stranger, &documents[usize::from(target.contains("oauth"))])
            }
            _ => Said::new(404, "text/plain", ""),
        },
    );
    let accepted = world.person("maja").send(
        "POST",
        "/api/wallet/offers/accept",
        Some(&json!({"offer": value})),
    );
    trap.assert_untouched();
    accepted.unwrap()
}

#[test]
fn an_issuer_cannot_lead_a_wallet_inward() {
    let trap = Trap::set();
    let inward = format!("https://127.0.0.1:{}/", trap.port);
    let to = inward.clone();
    assert_refused(
        "metadata that redirects",
        &led(&trap, move |_, _| Said::redirect(&to)),
    );
    for endpoint in ["token", "nonce", "credential"] {
        let to = inward.clone();
        let accepted = led(&trap, move |stranger, document| {
            let theirs = stranger.url(&format!("issuer/{endpoint}\""));
            Said::new(
                200,
                "application/json",
                document.replace(&theirs, &format!("{to}\"")),
            )
        });
        assert_refused(endpoint, &accepted);
        // The answer is the same as for a name that does not exist; the reason is in the log.
        let detail = accepted.json()["detail"].as_str().unwrap().to_owned();
        assert!(
            detail.contains("can't be reached now"),
            "{endpoint}: {detail}"
        );
    }
}

#[test]
fn a_credential_cannot_lead_a_verifier_inward() {
    let trap = Trap::set();
    let (issuer, holder) = (Key::new(), Key::new());
    let did = issuer.did();
    let world = World::start(&["--trust-issuer", &did]);
    let judge = |credential: &str| {
        post(
            &world.operator,
            "/api/verifier/verify",
            &json!({"credential": credential, "format": "dc+sd-jwt"}),
        )
    };
    for address in trap.addresses() {
        let uri = format!("{address}/list");
        let status = json!({"status": {"status_list": {"idx": 0, "uri": uri}}});
        let judged = judge(&foreign_credential(&issuer, &holder, &status));
        assert!(
            ["unverifiable", "invalid"].contains(&judged["outcome"].as_str().unwrap()),
            "{uri}: {judged}"
        );
        let named = judge(&foreign_credential(
            &issuer,
            &holder,
            &json!({"iss": address}),
        ));
        assert_ne!(named["outcome"], "valid", "{address}: {named}");
        if let Ok(url) = Url::parse(&address)
            && let Some(host) = url.host_str()
        {
            let port = url
                .port()
                .map(|port| format!("%3A{port}"))
                .unwrap_or_default();
            let did = format!(
                "did:web:{}{port}",
                host.replace(['[', ']'], "").replace(':', "%3A")
            );
            let path = format!("/1.0/identifiers/{}", did.replace('%', "%25"));
            let resolved = world.anybody().send("GET", &path, None).unwrap();
            assert!(!resolved.is_success(), "{did}: {resolved:?}");
        }
    }
    trap.assert_untouched();
    // The credential itself is verifiable: without a list it is valid.
    let judged = judge(&foreign_credential(&issuer, &holder, &json!({})));
    assert_eq!(judged["outcome"], "valid", "{judged}");
}
