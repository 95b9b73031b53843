//! The pages on which people sign in, are invited, and get roles and API keys.

use http::StatusCode;
use selfsame_audit::{AuditFilter, AuditResult};
use selfsame_core::organisation::OrganisationName;
use selfsame_driver::paging::Paging;
use selfsame_operators::{Authority, OperatorRole};

use super::instance::{Answered, Instance, form, get, post};
use super::organisations::with_acme;

const PASSWORD: &str = "a long password";
const VISITOR: &str = "selfsame-visitor-7380";
const SESSION: &str = "selfsame-operator-7380";

impl Instance {
    /// The address of an invitation, without its origin.
    async fn invitation(&self, organisation: &OrganisationName, role: OperatorRole) -> String {
        let operators = self.app.operators();
        let token = Authority::token();
        let invited = operators.invite(&token, organisation, &[role]).await;
        let link = invited.unwrap().link;
        link.split_once("7380").unwrap().1.to_owned()
    }

    /// Sends the form of a page for visitors.
    async fn at_the_door(&self, page: &str, to: &str, fields: &[(&str, &str)]) -> Answered {
        let page = self.call(get(page)).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        let token = page.form_token();
        let mut all = vec![("form_token", token.as_str())];
        all.extend(fields);
        let sent = post(to).cookie(&page.cookie(VISITOR)).form(form(&all));
        self.call(sent).await
    }

    async fn sign_in(&self, email: &str, password: &str) -> Answered {
        let fields = [("email", email), ("password", password)];
        self.at_the_door("/operator", "/operator/sign-in", &fields)
            .await
    }

    async fn accept(&self, invitation: &str, email: &str, password: &str) -> Answered {
        let token = invitation.split_once("token=").unwrap().1;
        let fields = [("token", token), ("email", email), ("password", password)];
        self.at_the_door(invitation, "/operator/invited", &fields)
            .await
    }

    /// A page that is opened with this cookie.
    async fn page(&self, path: &str, cookie: &str) -> String {
        let answer = self.call(get(path).cookie(cookie)).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.body);
        answer.body
    }
}

fn acme() -> OrganisationName {
    OrganisationName::parse("acme").unwrap()
}

#[tokio::test]
async fn a_person_signs_in_with_their_password_and_is_led_to_the_first_page_that_they_may_open() {
    let instance = with_acme().await;
    for (organisation, role, first) in [
        (acme(), OperatorRole::Issuer, "/o/acme/issuer"),
        (acme(), OperatorRole::Verifier, "/o/acme/verifier"),
        (acme(), OperatorRole::Auditor, "/o/acme/audit"),
        (OrganisationName::main(), OperatorRole::Owner, "/issuer"),
        (
            OrganisationName::main(),
            OperatorRole::Administrator,
            "/people",
        ),
    ] {
        instance.person_with(&organisation, role).await;
        let email = format!("{}@{organisation}.example", role.as_str());
        let answer = instance.sign_in(&email, PASSWORD).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
        assert_eq!(answer.header("location"), first);
        let cookie = answer.cookie(SESSION);
        answer.cookie("selfsame-known-operator-7380");
        if role == OperatorRole::Issuer {
            let page = instance.page(first, &cookie).await;
            assert!(page.contains(&email), "{page}");
        }
    }
}

#[tokio::test]
async fn a_wrong_password_is_told_beside_the_form_and_opens_no_session() {
    let instance = Instance::start().await;
    let main = OrganisationName::main();
    instance.person_with(&main, OperatorRole::Owner).await;
    for email in ["owner@main.example", "stranger@main.example"] {
        let answer = instance.sign_in(email, "another long password").await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
        for wanted in [
            "<title>Error: Operator",
            "Wrong e-mail or password.",
            "aria-invalid=\"true\" aria-describedby=\"problem\"",
            email,
        ] {
            assert!(answer.body.contains(wanted), "{wanted}: {}", answer.body);
        }
        assert!(!answer.body.contains("wallet on the page"));
        assert!(!format!("{:?}", answer.headers).contains(SESSION));
    }
    let fields = [("token", "wrong")];
    let answer = instance
        .at_the_door("/operator", "/operator/sign-in", &fields)
        .await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert!(answer.body.contains("<details class=\"sheet\" open>"));
    assert!(answer.body.contains("Wrong operator token."));
}

#[tokio::test]
async fn a_persons_page_leads_to_their_organisations_and_out() {
    let instance = with_acme().await;
    let main = OrganisationName::main();
    let email = "clerk@acme.example";
    for organisation in [&acme(), &main] {
        let invitation = instance
            .invitation(organisation, OperatorRole::Issuer)
            .await;
        let answer = instance.accept(&invitation, email, PASSWORD).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    }
    let answer = instance.sign_in(email, PASSWORD).await;
    assert_eq!(answer.header("location"), "/operator");
    let cookie = answer.cookie(SESSION);
    let page = instance.call(get("/operator").cookie(&cookie)).await;
    for wanted in [
        email,
        "Acme Corporation",
        "href=\"/o/acme/organisation\"",
        "href=\"/organisation\"",
    ] {
        assert!(page.body.contains(wanted), "{wanted}: {}", page.body);
    }
    let out = form(&[("form_token", &page.form_token())]);
    let out = post("/operator/sign-out").cookie(&cookie).form(out);
    assert_eq!(instance.call(out).await.status, StatusCode::SEE_OTHER);
    let over = instance.call(get("/issuer").cookie(&cookie)).await;
    assert_eq!(over.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn an_invitation_says_what_it_is_for_and_signs_in_once() {
    let instance = with_acme().await;
    let invitation = instance.invitation(&acme(), OperatorRole::Issuer).await;
    let page = instance.call(get(&invitation)).await;
    for wanted in ["Acme Corporation", "Issues credentials", "choose a new one"] {
        assert!(page.body.contains(wanted), "{wanted}: {}", page.body);
    }
    let weak = instance
        .accept(&invitation, "clerk@acme.example", "password12")
        .await;
    assert_eq!(weak.status, StatusCode::BAD_REQUEST);
    assert!(weak.body.contains("id=\"problem\""), "{}", weak.body);
    assert!(weak.body.contains("clerk@acme.example"));
    let joined = instance
        .accept(&invitation, "clerk@acme.example", PASSWORD)
        .await;
    assert_eq!(joined.header("location"), "/o/acme/issuer");
    let cookie = joined.cookie(SESSION);
    let page = instance.page("/o/acme/issuer", &cookie).await;
    assert!(page.contains("clerk@acme.example"), "{page}");
    let used = instance.call(get(&invitation)).await;
    assert_eq!(used.status, StatusCode::GONE);
    assert!(used.body.contains("ask for another one"), "{}", used.body);
}

#[tokio::test]
async fn late_and_unknown_invitations_are_refused_on_a_plain_page() {
    let instance = Instance::start().await;
    let main = OrganisationName::main();
    let late = instance.invitation(&main, OperatorRole::Issuer).await;
    instance.app.clock().advance(7 * 86_400);
    for over in [
        &late,
        "/operator/invited?token=made-up",
        "/operator/invited",
    ] {
        let answer = instance.call(get(over)).await;
        assert_eq!(answer.status, StatusCode::GONE, "{over}");
        assert!(answer.body.contains("No longer available"));
        assert!(!answer.body.contains("name=\"password\""));
    }
}

impl Instance {
    /// Sends a form of the page at `page` in a session.
    async fn sends(
        &self,
        cookie: &str,
        (page, to): (&str, &str),
        fields: &[(&str, &str)],
    ) -> Answered {
        let page = self.call(get(page).cookie(cookie)).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        let token = page.form_token();
        let mut all = vec![("form_token", token.as_str())];
        all.extend(fields);
        self.call(post(to).cookie(cookie).form(form(&all))).await
    }

    /// The id and the roles of a person with this address.
    async fn of_address(&self, email: &str) -> (String, Vec<OperatorRole>) {
        let people = self
            .app
            .operators()
            .people(&acme(), &Paging::default())
            .await
            .unwrap();
        let found = people
            .items
            .into_iter()
            .find(|person| person.email == email);
        let person = found.unwrap();
        (person.id, person.roles)
    }
}

const AT: &str = "/o/acme/people";

#[tokio::test]
async fn an_owner_invites_by_the_page_and_sees_the_link_once() {
    let instance = with_acme().await;
    let owner = instance.person_with(&acme(), OperatorRole::Owner).await;
    let to = (AT, "/o/acme/people/invitations");
    let none = instance.sends(&owner, to, &[]).await;
    assert_eq!(none.status, StatusCode::BAD_REQUEST);
    assert!(
        none.body.contains("A person needs at least one role."),
        "{}",
        none.body
    );
    let fields = [("role", "issuer"), ("role", "auditor")];
    let made = instance.sends(&owner, to, &fields).await;
    assert_eq!(made.status, StatusCode::OK, "{}", made.body);
    assert!(made.body.contains("Acme Corporation") && made.body.contains("Issuer, Auditor"));
    assert!(made.body.contains("data-copy=\"#link\""));
    let link = made.body.split("/operator/invited?token=").nth(1).unwrap();
    let link = format!(
        "/operator/invited?token={}",
        link.split('<').next().unwrap()
    );
    let joined = instance.accept(&link, "clerk@acme.example", PASSWORD).await;
    assert_eq!(joined.status, StatusCode::SEE_OTHER, "{}", joined.body);
    let page = instance.page(AT, &owner).await;
    assert!(page.contains("clerk@acme.example") && page.contains("Issuer, Auditor"));
    assert!(!page.contains("token="));
    let elsewhere = [("role", "administrator")];
    let elsewhere = instance.sends(&owner, to, &elsewhere).await;
    assert_eq!(elsewhere.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn an_owner_changes_the_roles_of_a_person_and_removes_them_by_name() {
    let instance = with_acme().await;
    let owner = instance.person_with(&acme(), OperatorRole::Owner).await;
    instance.person_with(&acme(), OperatorRole::Issuer).await;
    let (id, _) = instance.of_address("issuer@acme.example").await;
    let at = format!("{AT}/view/{id}");
    let page = instance.page(&at, &owner).await;
    assert!(page.contains("Remove issuer@acme.example"), "{page}");
    assert!(page.contains("value=\"issuer\" checked") && !page.contains("value=\"administrator\""));
    let to = format!("{at}/roles");
    let none = instance.sends(&owner, (&at, &to), &[]).await;
    assert_eq!(none.status, StatusCode::BAD_REQUEST);
    assert!(
        none.body.contains("<title>Error: issuer@acme.example"),
        "{}",
        none.body
    );
    let fields = [("role", "verifier"), ("role", "auditor")];
    let changed = instance.sends(&owner, (&at, &to), &fields).await;
    assert_eq!(changed.header("location"), AT);
    let (_, roles) = instance.of_address("issuer@acme.example").await;
    assert_eq!(roles, [OperatorRole::Verifier, OperatorRole::Auditor]);
    let removed = instance
        .sends(&owner, (&at, &format!("{at}/remove")), &[])
        .await;
    assert_eq!(removed.header("location"), AT);
    let page = instance.page(AT, &owner).await;
    assert!(!page.contains("issuer@acme.example"));
    let gone = instance.call(get(&at).cookie(&owner)).await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_person_with_more_rights_than_the_owner_is_shown_without_forms() {
    let instance = Instance::start().await;
    let main = OrganisationName::main();
    let owner = instance.person_with(&main, OperatorRole::Owner).await;
    instance
        .person_with(&main, OperatorRole::Administrator)
        .await;
    let people = instance
        .app
        .operators()
        .people(&main, &Paging::default())
        .await
        .unwrap();
    let is_administrator = |roles: &[OperatorRole]| roles == [OperatorRole::Administrator];
    let above = people
        .items
        .iter()
        .find(|person| is_administrator(&person.roles));
    let at = format!("/people/view/{}", above.unwrap().id);
    let page = instance.page(&at, &owner).await;
    assert!(
        page.contains("rights that you don’t have") && !page.contains("/remove\""),
        "{page}"
    );
}

#[tokio::test]
async fn an_auditor_sees_people_and_keys_and_no_forms() {
    let instance = with_acme().await;
    let owner = instance.person_with(&acme(), OperatorRole::Owner).await;
    let fields = [
        ("name", "admissions"),
        ("days", "30"),
        ("scope", "issuer:write"),
    ];
    instance
        .sends(&owner, (AT, "/o/acme/people/keys"), &fields)
        .await;
    let auditor = instance.person_with(&acme(), OperatorRole::Auditor).await;
    let (id, _) = instance.of_address("owner@acme.example").await;
    for path in [AT.to_owned(), format!("{AT}/view/{id}")] {
        let page = instance.page(&path, &auditor).await;
        assert!(page.contains("owner@acme.example"), "{page}");
        let forms: Vec<_> = page
            .split("<form method=\"post\" action=\"")
            .skip(1)
            .collect();
        assert_eq!(forms.len(), 1, "{page}");
        assert!(forms[0].starts_with("/operator/sign-out"));
    }
    assert!(instance.page(AT, &auditor).await.contains("admissions"));
}

#[tokio::test]
async fn a_key_made_by_the_page_is_shown_once_and_works_until_it_is_revoked() {
    let instance = with_acme().await;
    let owner = instance.person_with(&acme(), OperatorRole::Owner).await;
    let to = (AT, "/o/acme/people/keys");
    let none = [("name", "admissions"), ("days", "30")];
    let none = instance.sends(&owner, to, &none).await;
    assert_eq!(none.status, StatusCode::BAD_REQUEST);
    assert!(none.body.contains("at least one scope") && none.body.contains("value=\"admissions\""));
    let long = [
        ("name", "admissions"),
        ("days", "9999"),
        ("scope", "issuer:write"),
    ];
    let long = instance.sends(&owner, to, &long).await;
    assert_eq!(long.status, StatusCode::BAD_REQUEST);
    assert!(
        long.body.contains("value=\"issuer:write\" checked"),
        "{}",
        long.body
    );
    let page = instance.page(AT, &owner).await;
    assert!(
        !page.contains("value=\"instance:read\""),
        "rights of the instance are offered"
    );
    let fields = [
        ("name", "admissions"),
        ("days", "30"),
        ("scope", "issuer:read"),
        ("scope", "issuer:write"),
    ];
    let made = instance.sends(&owner, to, &fields).await;
    assert_eq!(made.status, StatusCode::OK, "{}", made.body);
    let key = made
        .body
        .split("selfsame_")
        .nth(1)
        .unwrap()
        .split('<')
        .next()
        .unwrap();
    let key = format!("selfsame_{key}");
    let offers = async || {
        instance
            .call(get("/o/acme/api/issuer/offers").bearer(&key))
            .await
            .status
    };
    assert_eq!(offers().await, StatusCode::OK);
    let page = instance.page(AT, &owner).await;
    assert!(page.contains("admissions") && page.contains("issuer:read, issuer:write"));
    assert!(!page.contains(&key), "the key is shown again");
    let keys = instance
        .app
        .operators()
        .keys(&acme(), &Paging::default())
        .await
        .unwrap();
    let revoke = format!("{AT}/keys/{}/revoke", keys.items[0].id);
    assert!(page.contains(&revoke), "{page}");
    let revoked = instance.sends(&owner, (AT, &revoke), &[]).await;
    assert_eq!(revoked.header("location"), format!("{AT}#keys"));
    assert_eq!(offers().await, StatusCode::UNAUTHORIZED);
}

/// What the trail of an organisation says of sign-ins, the newest first: who, what, and with which result.
async fn seats(instance: &Instance, organisation: &OrganisationName) -> Vec<[String; 3]> {
    let everything = AuditFilter::default();
    let listed = instance.app.trail().list(organisation, &everything);
    let seats = listed.await.unwrap().items.into_iter();
    let seats = seats.filter(|entry| entry.act.contains("/operator/"));
    seats
        .map(|entry| {
            assert_eq!(entry.from.as_deref(), Some("127.0.0.1"));
            let result = match entry.result {
                AuditResult::Done => "done".to_owned(),
                AuditResult::Refused(reason) => reason,
            };
            [entry.actor.name, entry.act, result]
        })
        .collect()
}

#[tokio::test]
async fn sign_ins_refused_ones_too_sign_outs_and_accepted_invitations_are_in_the_trail() {
    let instance = with_acme().await;
    let (main, email) = (OrganisationName::main(), "clerk@acme.example");
    let invitation = instance.invitation(&acme(), OperatorRole::Issuer).await;
    instance.accept(&invitation, email, PASSWORD).await;
    let wrong = "a password in the wrong field";
    instance.sign_in(email, wrong).await;
    instance.sign_in(&format!("{wrong}@"), PASSWORD).await;
    let fields = [("token", wrong)];
    instance
        .at_the_door("/operator", "/operator/sign-in", &fields)
        .await;
    let cookie = instance.sign_in(email, PASSWORD).await.cookie(SESSION);
    let page = instance.call(get("/o/acme/issuer").cookie(&cookie)).await;
    let out = post("/operator/sign-out").cookie(&cookie);
    let out = out.form(form(&[("form_token", &page.form_token())]));
    assert_eq!(instance.call(out).await.status, StatusCode::SEE_OTHER);
    let entry = |who: &str, act: &str, result: &str| [who, act, result].map(str::to_owned);
    let (signs_in, wrong_one) = ("POST /operator/sign-in", "sign-in-wrong");
    assert_eq!(
        seats(&instance, &acme()).await,
        [
            entry(email, "POST /operator/sign-out", "done"),
            entry(email, signs_in, "done"),
            entry(email, signs_in, wrong_one),
            entry(email, "POST /operator/invited", "done"),
        ]
    );
    let token = "operator-token-wrong";
    let mains = [
        entry("unknown", signs_in, token),
        entry("unknown", signs_in, wrong_one),
    ];
    assert_eq!(seats(&instance, &main).await, mains);
    let cookie = instance.operator_cookie().await;
    let of_main = seats(&instance, &main).await;
    assert_eq!(
        of_main[0],
        entry("operator token", "GET /operator/sign-in", "done")
    );
    let page = instance.page("/audit", &cookie).await;
    assert!(
        page.contains("Signs in by a link") && !page.contains(wrong),
        "{page}"
    );
    let page = instance.page("/o/acme/audit", &cookie).await;
    assert!(page.contains("Accepts an invitation") && !page.contains(wrong));
}
