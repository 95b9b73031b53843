//! The pages of agents: who sees them, what their forms do, and that lists stay short however much there is.

use http::{Method, StatusCode};
use selfsame_agent::issue::{IssueWhat, NamedFilter, NewCredentialOffer};
use selfsame_agent::{ExchangeBegin, NewInvitation, Wishes};
use selfsame_anoncreds_wallet::{NewCredentialDefinition, NewSchema};
use selfsame_aries::exchange::{Preview, PreviewAttribute};
use selfsame_aries::formats::CredentialFilter;
use selfsame_core::organisation::OrganisationName;
use selfsame_operators::OperatorRole;

use super::instance::{Answered, Instance, call, form, get, post};
use super::pages::check;

/// The operator at the pages of an agent.
struct Desk {
    instance: Instance,
    cookie: String,
    token: String,
}

impl Desk {
    async fn open() -> Self {
        let instance = Instance::with_agents(&["main", "acme"]).await;
        let cookie = instance.operator_cookie().await;
        let page = instance.call(get("/agent/invitations").cookie(&cookie));
        let token = page.await.form_token();
        Self {
            instance,
            cookie,
            token,
        }
    }

    async fn read(&self, path: &str) -> String {
        let page = self.instance.call(get(path).cookie(&self.cookie)).await;
        assert_eq!(page.status, StatusCode::OK, "{path}: {}", page.body);
        check(path, &page.body);
        page.body
    }

    async fn send(&self, path: &str, fields: &[(&str, &str)]) -> Answered {
        let mut all = vec![("form_token", self.token.as_str())];
        all.extend(fields);
        let call = post(path).cookie(&self.cookie).form(form(&all));
        self.instance.call(call).await
    }

    /// Sends a form that leads on.
    async fn done(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let sent = self.send(path, fields).await;
        assert_eq!(sent.status, StatusCode::SEE_OTHER, "{path}: {}", sent.body);
        sent.header("location").to_owned()
    }

    /// A revocable definition of the first agent, by which a credential is offered; returns the exchange's identifier.
    async fn offer(&self) -> String {
        let app = &self.instance.app;
        let tenant = app.agent_of("main").unwrap();
        let author = app.agent_author(&tenant).await.unwrap();
        let anoncreds = app.agents().anoncreds();
        let attributes = ["drug".to_owned()];
        let schema = NewSchema {
            name: "prescription",
            version: "1.0",
            attributes: &attributes,
        };
        let schema = anoncreds.create_schema(&author, &schema).await.unwrap();
        let definition = NewCredentialDefinition {
            schema_id: &schema.id,
            tag: "default",
            registry_size: Some(10),
        };
        let made = anoncreds.create_definition(&author, &definition).await;
        let filter = NamedFilter {
            format: "anoncreds".to_owned(),
            filter: CredentialFilter {
                cred_def_id: Some(made.unwrap().id),
                ..CredentialFilter::default()
            },
        };
        let offer = NewCredentialOffer {
            preview: Preview {
                attributes: vec![PreviewAttribute {
                    name: "drug".to_owned(),
                    mime_type: None,
                    value: "Amoxicillin".to_owned(),
                }],
            },
            filters: vec![filter],
            ..NewCredentialOffer::default()
        };
        let begin = ExchangeBegin {
            connection_id: None,
            major: 2,
            wishes: Wishes::default(),
        };
        let issuing = app.agents().issuing();
        let begun = issuing.begin(&tenant, &begin, IssueWhat::Offer(Some(offer)));
        begun.await.unwrap()["cred_ex_id"]
            .as_str()
            .unwrap()
            .to_owned()
    }
}

/// What stands in a page between two texts.
fn within<'p>(page: &'p str, before: &str, after: &str) -> &'p str {
    let (_, rest) = page
        .split_once(before)
        .unwrap_or_else(|| panic!("{before}: {page}"));
    rest.split_once(after).unwrap().0
}

#[tokio::test]
async fn an_invitation_is_made_shown_accepted_by_its_link_and_removed() {
    let desk = Desk::open().await;
    assert!(desk.read("/agent").await.contains("No connections yet."));
    let fields = [
        ("kind", "out-of-band"),
        ("alias", "Ward 3"),
        ("label", "Clinic"),
    ];
    let invitation = desk.done("/agent/invitations", &fields).await;
    let page = desk.read(&invitation).await;
    assert!(page.contains("<svg") && page.contains("Clinic"), "{page}");
    let link = within(&page, "readonly>", "</textarea>").replace("&#38;", "&");
    let found = desk.read("/agent?q=ward&state=waiting").await;
    assert!(found.contains("Ward 3") && found.contains("invited, no answer yet"));
    assert!(
        desk.read("/agent?q=ward&state=connected")
            .await
            .contains("No connection fits.")
    );

    let fields = [("invitation", link.as_str()), ("alias", "The clinic")];
    let connection = desk.done("/o/acme/agent/received", &fields).await;
    assert!(
        connection.starts_with("/o/acme/agent/connections/"),
        "{connection}"
    );
    let page = desk.read(&connection).await;
    assert!(
        page.contains("The clinic") && page.contains("Ask to connect"),
        "{page}"
    );
    let accepted = desk.done(&format!("{connection}/accept"), &[]).await;
    assert!(desk.read(&accepted).await.contains("asked to connect"));
    assert_eq!(
        desk.done(&format!("{connection}/remove"), &[]).await,
        "/o/acme/agent"
    );
    let gone = desk
        .instance
        .call(get(&connection).cookie(&desk.cookie))
        .await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);

    desk.done(&format!("{invitation}/remove"), &[]).await;
    assert!(desk.read("/agent").await.contains("No connections yet."));
}

#[tokio::test]
async fn an_invitation_of_connections_is_shown_once_with_its_link() {
    let desk = Desk::open().await;
    let fields = [("kind", "connections"), ("multi_use", "true")];
    let made = desk.send("/agent/invitations", &fields).await;
    assert_eq!(made.status, StatusCode::OK);
    check("made", &made.body);
    assert!(made.body.contains("?c_i=") && made.body.contains("Copy this invitation now"));
    let link = within(&made.body, "readonly>", "</textarea>").to_owned();
    let fields = [("invitation", link.as_str()), ("auto_accept", "true")];
    let connection = desk.done("/o/acme/agent/received", &fields).await;
    assert!(desk.read(&connection).await.contains("asked to connect"));
}

#[tokio::test]
async fn what_is_no_invitation_is_refused_beside_its_field_and_stays_there() {
    let desk = Desk::open().await;
    for text in [
        "https://peer.example/?a=b",
        "{\"@type\": \"x\"}",
        "no invitation",
    ] {
        let refused = desk.send("/agent/received", &[("invitation", text)]).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{text}");
        check(text, &refused.body);
        assert!(refused.body.contains("invitation-problem"), "{text}");
        let kept = within(
            &refused.body,
            "invitation-problem\" autofocus>",
            "</textarea>",
        );
        assert_eq!(kept.replace("&#34;", "\"").replace("&#38;", "&"), text);
        assert!(refused.body.contains("<title>Error: Invitations"));
    }
}

#[tokio::test]
async fn an_organisation_without_an_agent_has_no_pages_of_it_and_no_entry_that_leads_there() {
    let instance = Instance::start().await;
    let cookie = instance.operator_cookie().await;
    let issuer = instance.call(get("/issuer").cookie(&cookie)).await;
    assert!(!issuer.body.contains("href=\"/agent\""));
    let page = instance.call(get("/agent").cookie(&cookie)).await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
    assert!(page.body.contains("no such agent"), "{}", page.body);
    let desk = Desk::open().await;
    assert!(desk.read("/issuer").await.contains("href=\"/agent\""));
    assert!(
        desk.read("/o/acme/issuer")
            .await
            .contains("href=\"/o/acme/agent\"")
    );
}

#[tokio::test]
async fn each_role_sees_the_part_of_the_agent_that_it_works_with() {
    let desk = Desk::open().await;
    let main = OrganisationName::main();
    let issuing = ["/agent/issuing", "/agent/registries"];
    for (role, opens, refuses) in [
        (OperatorRole::Issuer, &issuing[..], &["/agent/proofs"][..]),
        (OperatorRole::Verifier, &["/agent/proofs"][..], &issuing[..]),
        (OperatorRole::Auditor, &[][..], &["/agent"][..]),
    ] {
        let cookie = desk.instance.person_with(&main, role).await;
        let status = async |path: &str| {
            let asked = get(path).cookie(&cookie);
            desk.instance.call(asked).await.status
        };
        for path in opens
            .iter()
            .chain(&["/agent", "/agent/invitations"])
            .filter(|_| !opens.is_empty())
        {
            assert_eq!(status(path).await, StatusCode::OK, "{role:?} {path}");
        }
        for path in refuses {
            assert_eq!(status(path).await, StatusCode::FORBIDDEN, "{role:?} {path}");
        }
    }
    let verifier = desk
        .instance
        .person_with(&main, OperatorRole::Verifier)
        .await;
    let page = desk.instance.call(get("/agent").cookie(&verifier)).await;
    assert!(page.body.contains("/agent/proofs") && !page.body.contains("/agent/issuing"));
}

#[tokio::test]
async fn an_offer_is_drawn_on_its_page_and_has_a_registry_that_is_equal_to_the_ledgers() {
    let desk = Desk::open().await;
    assert!(
        desk.read("/agent/registries")
            .await
            .contains("No registries yet.")
    );
    assert!(
        desk.read("/agent/proofs")
            .await
            .contains("Nothing was proven yet.")
    );
    let id = desk.offer().await;
    let list = desk.read("/agent/issuing?role=issuer&state=waiting").await;
    assert!(
        list.contains(&id) && list.contains("No connection"),
        "{list}"
    );
    assert!(!desk.read("/agent/issuing?role=holder").await.contains(&id));
    let page = desk.read(&format!("/agent/issuing/{id}")).await;
    for part in [
        "offer-credential",
        "Amoxicillin",
        "hidden, ",
        "The peer has to answer.",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let other = format!("/o/acme/agent/issuing/{id}");
    let other = desk.instance.call(get(&other).cookie(&desk.cookie)).await;
    assert_eq!(other.status, StatusCode::NOT_FOUND);

    let list = desk.read("/agent/registries").await;
    assert!(list.contains("of 9"), "{list}");
    let path = within(&list, "href=\"/agent/registry", "\"").replace("&#38;", "&");
    desk.read(&format!("/agent/registry{path}")).await;
    let other = format!("/o/acme/agent/registry{path}");
    let other = desk.instance.call(get(&other).cookie(&desk.cookie)).await;
    assert_eq!(other.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_registry_of_another_organisation_is_neither_shown_nor_changed() {
    let desk = Desk::open().await;
    desk.offer().await;
    let tenant = desk.instance.app.agent_of("main").unwrap();
    let anoncreds = desk.instance.app.agents().anoncreds();
    let all = anoncreds.registries(&tenant, None).await.unwrap();
    let id = all[0].rev_reg_id.as_str();
    for act in ["revoke", "publish", "clear"] {
        let path = format!("/o/acme/agent/registry/{act}");
        let fields = [("id", id), ("place", "1"), ("publish", "true")];
        let refused = desk.send(&path, &fields).await;
        assert_eq!(
            refused.status,
            StatusCode::NOT_FOUND,
            "{path}: {}",
            refused.body
        );
    }
}

#[tokio::test]
async fn a_search_among_many_connections_ends_early_and_goes_on_where_it_ended() {
    let desk = Desk::open().await;
    let tenant = desk.instance.app.agent_of("main").unwrap();
    for number in 0..2_050 {
        let new = NewInvitation {
            alias: Some(format!("Patient {number}")),
            ..NewInvitation::default()
        };
        let agents = desk.instance.app.agents();
        agents.create_invitation(&tenant, new).await.unwrap();
    }
    let first = desk.read("/agent").await;
    assert_eq!(first.matches("data-label=\"Peer\"").count(), 50);
    assert!(first.contains("Patient 2049") && first.contains("Older ones"));
    // The newest 2,000 are looked through.
    let page = desk.read("/agent?q=patient+7&state=").await;
    assert!(
        page.contains("Patient 799") && !page.contains(">Patient 7<"),
        "{page}"
    );
    let sought = desk.read("/agent?q=Patient+49&state=waiting").await;
    assert!(sought.contains("Patient 499"), "{sought}");
    let none = desk.read("/agent?q=nobody").await;
    assert!(
        none.contains("Older ones may.") && none.contains("Search older ones"),
        "{none}"
    );
    let next = within(&none, "href=\"/agent?q=nobody", "\"").replace("&amp;", "&");
    let next = next.replace("&#38;", "&");
    let last = desk.read(&format!("/agent?q=nobody{next}")).await;
    assert!(last.contains("No connection fits."), "{last}");
}

#[tokio::test]
async fn a_view_of_a_proof_is_written_into_the_audit_trail() {
    let desk = Desk::open().await;
    let asked = call(Method::GET, "/agent/proofs/unknown").cookie(&desk.cookie);
    assert_eq!(
        desk.instance.call(asked).await.status,
        StatusCode::NOT_FOUND
    );
    let audit = desk.read("/audit").await;
    assert!(
        audit.contains("Shows what a peer presented to the agent"),
        "{audit}"
    );
}
