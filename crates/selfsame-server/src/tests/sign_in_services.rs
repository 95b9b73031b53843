//! The authenticator app of a person with an account, and the pages of the services at which people sign in.

use http::StatusCode;
use selfsame_crypto::{Secret, encoding};
use selfsame_driver::clock::Clock;
use selfsame_otp::totp::{TotpHash, TotpSecret};

use super::instance::{Answered, Instance, form, get, post};
use super::organisations::with_acme;
use super::sign_in_pages::{AtSignIn, PASSWORD, PERSON};

/// Sends a form of a page, with the token of that page.
async fn sent(at: (&Instance, &str), page: &str, step: &str, fields: &[(&str, &str)]) -> Answered {
    let (instance, cookie) = at;
    let token = instance.call(get(page).cookie(cookie)).await.form_token();
    let mut all = vec![("form_token", token.as_str())];
    all.extend(fields);
    let call = post(&format!("{page}{step}")).cookie(cookie);
    instance.call(call.form(form(&all))).await
}

/// The code that the app of a page shows this number of steps from now.
fn code(page: &Answered, later: u64) -> String {
    let key = page.body.split("data-key>").nth(1).unwrap();
    let key = key.split('<').next().unwrap().to_ascii_lowercase();
    let secret = encoding::base32_lower_decode(&key).unwrap();
    let step = Clock::default().now().0 / 30 + later;
    let code = TotpSecret::from_bytes(Secret::new(secret)).code(TotpHash::Sha1, step);
    code.expose().to_owned()
}

#[tokio::test]
async fn a_person_with_an_app_signs_in_with_its_codes_until_they_remove_it() {
    let instance = with_acme().await;
    let cookie = instance.person_cookie(PERSON).await;
    let at = (&instance, cookie.as_str());
    let account = "/wallet/account";
    let wrong = sent(at, account, "/app", &[("password", "another password")]).await;
    assert_eq!(wrong.status, StatusCode::UNAUTHORIZED, "{}", wrong.body);
    let added = sent(at, account, "/app", &[("password", PASSWORD)]).await;
    assert_eq!(added.status, StatusCode::OK, "{}", added.body);
    let refused = sent(at, account, "/app/confirm", &[("code", "000000")]).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{}", refused.body);
    assert!(refused.body.contains("data-key"), "{}", refused.body);

    // An app of which no code was accepted is not asked for.
    let mut before = AtSignIn::begun(&instance, "", &[]).await;
    assert_eq!(before.prove(PASSWORD).await.status, StatusCode::SEE_OTHER);
    let now = code(&added, 0);
    let confirmed = sent(at, account, "/app/confirm", &[("code", &now)]).await;
    assert_eq!(
        confirmed.status,
        StatusCode::SEE_OTHER,
        "{}",
        confirmed.body
    );

    let mut signing = AtSignIn::begun(&instance, "", &[]).await;
    let asked = signing.prove(PASSWORD).await;
    assert_eq!(asked.status, StatusCode::UNAUTHORIZED, "{}", asked.body);
    assert!(
        asked.body.contains("code of your authenticator app"),
        "{}",
        asked.body
    );
    assert!(asked.body.contains("name=\"password\"") && asked.body.contains("name=\"code\""));
    let next = code(&added, 1);
    for (typed, status) in [
        (&now, StatusCode::UNAUTHORIZED),
        (&next, StatusCode::SEE_OTHER),
    ] {
        let fields = [
            ("identifier", PERSON),
            ("password", PASSWORD),
            ("code", typed),
        ];
        let answer = signing.send("/proof", &fields).await;
        assert_eq!(answer.status, status, "{}", answer.body);
    }

    let kept = sent(
        at,
        account,
        "/app/remove",
        &[("password", "another password")],
    )
    .await;
    assert_eq!(kept.status, StatusCode::UNAUTHORIZED);
    let removed = sent(at, account, "/app/remove", &[("password", PASSWORD)]).await;
    assert_eq!(removed.status, StatusCode::SEE_OTHER, "{}", removed.body);
    let mut after = AtSignIn::begun(&instance, "", &[]).await;
    assert_eq!(after.prove(PASSWORD).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn an_operator_registers_a_service_gives_it_a_new_secret_and_removes_it() {
    let instance = with_acme().await;
    let cookie = instance.operator_cookie().await;
    let at = (&instance, cookie.as_str());
    let pages = "/o/acme/clients";
    let none = instance.call(get(pages).cookie(&cookie)).await;
    assert!(none.body.contains("No services yet"), "{}", none.body);
    let wrong = [("name", "Library"), ("redirect_uris", "nonsense")];
    let refused = sent(at, pages, "", &wrong).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
    assert!(refused.body.contains("value=\"Library\"") && refused.body.contains("nonsense"));

    let right = [
        ("name", "Library"),
        (
            "redirect_uris",
            "https://a.example/cb\r\nhttps://b.example/cb",
        ),
    ];
    let made = sent(at, pages, "", &right).await;
    assert_eq!(made.status, StatusCode::CREATED, "{}", made.body);
    let between = |page: &Answered, mark: &str| {
        let rest = page.body.split(mark).nth(1).unwrap();
        rest.split('<').next().unwrap().to_owned()
    };
    let (id, secret) = (
        between(&made, "data-client>"),
        between(&made, "data-secret>"),
    );
    let list = instance.call(get(pages).cookie(&cookie)).await;
    assert!(list.body.contains("a.example, b.example"), "{}", list.body);
    let elsewhere = instance.call(get("/clients").cookie(&cookie)).await;
    assert!(
        !elsewhere.body.contains("a.example"),
        "of another organisation"
    );
    let page = format!("{pages}/{id}");
    let shown = instance.call(get(&page).cookie(&cookie)).await;
    assert!(!shown.body.contains(&secret), "{}", shown.body);
    let renewed = sent(at, &page, "/secret", &[]).await;
    assert_ne!(between(&renewed, "data-secret>"), secret);
    let listed = get("/o/acme/api/sign-in/clients?limit=1").bearer(&instance.token);
    let listed = instance.call(listed).await;
    assert!(listed.body.contains(&id) && !listed.body.contains(&secret));
    let removed = sent(at, &page, "/remove", &[]).await;
    assert_eq!(removed.header("location"), pages);
    let gone = instance.call(get(&page).cookie(&cookie)).await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
}
