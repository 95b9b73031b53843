//! Every page with invented data, for tests and for those who design or translate the pages.

use crate::account::ListedPasskey;
use crate::code::{AwaitedCode, CodePage};
use crate::ended::{BlockedPage, ClientLink, SignInErrorPage};
use crate::frame::{PageFiles, PageOrganisation, SignInFrame};
use crate::kept::{
    AgreementsPage, CreatePasskeyPage, ListedAgreement, ListedSession, PasskeysPage, SessionsPage,
};
use crate::language::PageLanguage;
use crate::sample::{LearnedClaim, LearnedPerson, SampleServicePage};
use crate::{
    CodeChannels, ConsentClient, ConsentPage, KnowledgeField, OfferedChoice, OtherWay,
    PasskeyWayPage, Template, TypedWay, WalletWayPage, WayKind, WaysPage, render,
};

const CLIENT: &str = "Riverside Library";
const LOGO: &str = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCA4IDgiPjxjaXJjbGUgY3g9IjQiIGN5PSI0IiByPSI0IiBmaWxsPSIjMWY0ZTc5Ii8+PC9zdmc+";
const ROOT: &str = "/account";

/// A page with its name.
pub struct SamplePage {
    /// Its name.
    pub name: &'static str,
    /// Its HTML.
    pub html: String,
}

/// Every page in a language, which loads these files. A page that cannot be written is left out.
#[must_use]
pub fn all(language: &'static PageLanguage, files: &PageFiles) -> Vec<SamplePage> {
    let frame = || frame(language, files);
    let wrong = || Some(language.say("wrong-code"));
    let pages = [
        page("ways", &ways(frame(), TypedWay::Code(BOTH))),
        page("password", &ways(frame(), TypedWay::Password)),
        page("password-app", &ways(frame(), TypedWay::PasswordAndAppCode)),
        page("pin", &ways(frame(), TypedWay::Pin)),
        page("app-code", &ways(frame(), TypedWay::AppCode)),
        page("knowledge", &ways(frame(), TypedWay::Knowledge(known()))),
        page("code", &code(frame())),
        page(
            "code-wrong",
            &CodePage {
                problem: wrong(),
                places: Vec::new(),
                on_screen: Some("123456".to_owned()),
                ..code(frame())
            },
        ),
        page("wallet", &wallet(frame())),
        page("passkey", &passkey(frame())),
        page("consent", &consent(frame())),
        page("consent-nothing", &nothing(frame())),
        page("blocked", &blocked(frame())),
        page("error", &error(frame())),
        page("sessions", &sessions(frame())),
        page("agreements", &agreements(frame())),
        page("passkeys", &passkeys(frame())),
        page("passkeys-wrong", &wrong_password(frame())),
        page("create-passkey", &create_passkey(frame())),
        page("sample", &sample(frame(), false)),
        page("sample-in", &sample(frame(), true)),
    ];
    pages.into_iter().flatten().collect()
}

const BOTH: CodeChannels = CodeChannels {
    email: true,
    phone: true,
};

fn page(name: &'static str, page: &impl Template) -> Option<SamplePage> {
    let html = render(page).ok()?;
    Some(SamplePage { name, html })
}

fn frame(language: &'static PageLanguage, files: &PageFiles) -> SignInFrame {
    SignInFrame {
        language,
        files: files.clone(),
        organisation: PageOrganisation {
            title: "Ministry of Health".to_owned(),
            logo: String::new(),
            class: String::new(),
        },
        form: "form-token".to_owned(),
        address: "?sign_in=a1b2".to_owned(),
    }
}

fn ways(frame: SignInFrame, way: TypedWay) -> WaysPage {
    let others = [WayKind::Presentation, WayKind::Passkey, WayKind::Password];
    let other = |kind| OtherWay {
        kind,
        href: "#".to_owned(),
    };
    WaysPage {
        frame,
        client: CLIENT.to_owned(),
        logo: Some(LOGO.to_owned()),
        identifier: "8267411072".to_owned(),
        way,
        others: others.into_iter().map(other).collect(),
        action: "#".to_owned(),
        problem: None,
    }
}

fn known() -> Vec<KnowledgeField> {
    let field = |name: &str, label: &str, is_date| KnowledgeField {
        name: name.to_owned(),
        label: label.to_owned(),
        is_date,
    };
    vec![
        field("full_name", "Full name", false),
        field("birthdate", "Date of birth", true),
    ]
}

fn code(frame: SignInFrame) -> CodePage {
    CodePage {
        frame,
        places: vec!["m••••@example.org".to_owned(), "+41 •• ••• 72".to_owned()],
        identifier: "8267411072".to_owned(),
        channel: "phone".to_owned(),
        code: AwaitedCode {
            length: 6,
            is_numeric: true,
            minutes: 3,
            attempts: Some(2),
            wait: 30,
        },
        on_screen: None,
        action: "#".to_owned(),
        again: "#".to_owned(),
        other: "#".to_owned(),
        problem: None,
    }
}

fn wallet(frame: SignInFrame) -> WalletWayPage {
    let code = "<svg viewBox=\"0 0 8 8\" width=\"240\" height=\"240\"><rect width=\"8\" height=\"8\" fill=\"#fff\"/><path d=\"M1 1h2v2h-2zM5 1h2v2h-2zM1 5h2v2h-2zM4 4h1v1h-1zM6 6h1v1h-1z\" fill=\"#10201c\"/></svg>";
    WalletWayPage {
        frame,
        credentials: vec!["Immunization record".to_owned()],
        code: code.to_owned(),
        link: "openid4vp://?request".to_owned(),
        look: "#look".to_owned(),
        back: Some("#".to_owned()),
        problem: None,
    }
}

fn passkey(frame: SignInFrame) -> PasskeyWayPage {
    PasskeyWayPage {
        problem: Some(frame.say("wrong-passkey")),
        frame,
        options: "{\"challenge\":\"AAAA\"}".to_owned(),
        action: "#".to_owned(),
        back: Some("#".to_owned()),
    }
}

fn choice(name: &str, is_ticked: bool) -> OfferedChoice {
    OfferedChoice {
        name: name.to_owned(),
        is_ticked,
    }
}

fn consent(frame: SignInFrame) -> ConsentPage {
    ConsentPage {
        frame,
        client: ConsentClient {
            name: CLIENT.to_owned(),
            logo: Some(LOGO.to_owned()),
            purpose: Some("Opening a reader’s account".to_owned()),
            site: "library.example".to_owned(),
            policy: Some("https://library.example/privacy".to_owned()),
            terms: Some("https://library.example/terms".to_owned()),
        },
        essential: vec!["name".to_owned(), "birthdate".to_owned()],
        voluntary: vec![choice("email", true), choice("phone_number", false)],
        scopes: vec![choice("offline_access", true), choice("Manage-VID", true)],
        action: "#".to_owned(),
    }
}

fn nothing(frame: SignInFrame) -> ConsentPage {
    ConsentPage {
        essential: Vec::new(),
        voluntary: Vec::new(),
        scopes: Vec::new(),
        ..consent(frame)
    }
}

fn link() -> Option<ClientLink> {
    Some(ClientLink {
        client: CLIENT.to_owned(),
        href: "#".to_owned(),
    })
}

fn blocked(frame: SignInFrame) -> BlockedPage {
    BlockedPage {
        frame,
        minutes: 5,
        back: link(),
    }
}

fn error(frame: SignInFrame) -> SignInErrorPage {
    SignInErrorPage {
        told: frame
            .say("error-request")
            .fill("code", "invalid_redirect_uri"),
        frame,
        back: link(),
    }
}

fn sessions(frame: SignInFrame) -> SessionsPage {
    let session = |id: &str, way, is_here| ListedSession {
        id: id.to_owned(),
        ways: vec![way],
        since: "2026-03-01T08:15:00Z".to_owned(),
        is_here,
    };
    SessionsPage {
        frame,
        root: ROOT.to_owned(),
        sessions: vec![
            session("1", WayKind::Passkey, true),
            session("2", WayKind::Code, false),
        ],
        has_account: true,
    }
}

fn agreements(frame: SignInFrame) -> AgreementsPage {
    AgreementsPage {
        frame,
        root: ROOT.to_owned(),
        agreements: vec![ListedAgreement {
            id: "1".to_owned(),
            client: CLIENT.to_owned(),
            claims: vec!["name".to_owned(), "birthdate".to_owned()],
            scopes: vec!["offline_access".to_owned()],
            since: "2026-03-01T08:15:00Z".to_owned(),
            until: Some("2027-03-01T08:15:00Z".to_owned()),
        }],
        has_account: true,
    }
}

fn passkeys(frame: SignInFrame) -> PasskeysPage {
    PasskeysPage {
        frame,
        root: ROOT.to_owned(),
        account: "maja@example.org".to_owned(),
        passkeys: vec![ListedPasskey {
            id: "1".to_owned(),
            name: "Phone".to_owned(),
            added: "2026-03-01T08:15:00Z".to_owned(),
            used: Some("2026-03-02T09:30:00Z".to_owned()),
            is_copied: false,
        }],
        can_add: true,
        name: String::new(),
        problem: None,
    }
}

fn wrong_password(frame: SignInFrame) -> PasskeysPage {
    PasskeysPage {
        problem: Some(frame.say("wrong-challenge")),
        passkeys: Vec::new(),
        name: "Phone".to_owned(),
        ..passkeys(frame)
    }
}

fn create_passkey(frame: SignInFrame) -> CreatePasskeyPage {
    CreatePasskeyPage {
        frame,
        root: ROOT.to_owned(),
        name: "Phone".to_owned(),
        options: "{\"challenge\":\"AAAA\"}".to_owned(),
    }
}

fn sample(frame: SignInFrame, is_in: bool) -> SampleServicePage {
    let claim = |name: &str, value: &str| LearnedClaim {
        name: name.to_owned(),
        value: value.to_owned(),
    };
    let learned = LearnedPerson {
        subject: "Zk3yQ0wq3sH8".to_owned(),
        claims: vec![
            claim("name", "Maja Musterfrau"),
            claim("birthdate", "1988-05-17"),
        ],
        token: "{\n  \"iss\": \"https://id.example\"\n}".to_owned(),
        sign_out: "#".to_owned(),
    };
    SampleServicePage {
        frame,
        begin: "#".to_owned(),
        learned: is_in.then_some(learned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every() -> impl Iterator<Item = (&'static PageLanguage, SamplePage)> {
        let files = PageFiles::default();
        let languages = PageLanguage::all().iter();
        languages.flat_map(move |language| {
            let pages = all(language, &files).into_iter();
            pages.map(move |page| (language, page))
        })
    }

    #[test]
    fn every_page_is_written_whole_in_every_language() {
        assert_eq!(every().count(), 21 * PageLanguage::all().len());
        for (language, SamplePage { name, html }) in every() {
            let about = format!("{name} in {}", language.name());
            let (tag, direction) = (language.tag(), language.direction());
            assert!(
                html.contains(&format!("<html lang=\"{tag}\" dir=\"{direction}\">")),
                "{about}"
            );
            let text = html.replace("{&#34;", "").replace("{\n", "");
            assert!(!text.contains('{'), "{about}: a value is missing");
            assert_eq!(html.matches("<h1>").count(), 1, "{about}");
            assert!(html.contains("ui_locales=ar"), "{about}");
        }
    }

    #[test]
    fn nothing_on_a_page_is_inline_and_every_field_has_a_label() {
        for (language, SamplePage { name, html }) in every() {
            let about = format!("{name} in {}", language.name());
            for inline in [" style=", "<style", " onclick=", "javascript:"] {
                assert!(!html.contains(inline), "{about}: {inline}");
            }
            assert_eq!(html.matches("<script").count(), 1, "{about}");
            for field in html.split(" id=\"").skip(1) {
                let (id, rest) = field.split_once('"').unwrap();
                let is_field = rest.trim_start().starts_with("name=")
                    || rest.trim_start().starts_with("type=");
                assert!(
                    !is_field || html.contains(&format!("for=\"{id}\"")),
                    "{about}: {id}"
                );
            }
            for form in html.split("<form ").skip(1) {
                assert!(form.contains("name=\"form_token\""), "{about}");
            }
        }
    }

    #[test]
    fn the_field_of_a_code_is_filled_by_the_browser_and_takes_what_is_pasted() {
        let files = PageFiles::default();
        let pages = all(PageLanguage::english(), &files);
        let code = pages.iter().find(|page| page.name == "code").unwrap();
        let field = code.html.split("<input id=\"code\"").nth(1).unwrap();
        let field = field.split_once('>').unwrap().0;
        for wanted in [
            "autocomplete=\"one-time-code\"",
            "inputmode=\"numeric\"",
            "dir=\"ltr\"",
        ] {
            assert!(field.contains(wanted), "{wanted}");
        }
        // Spaces within a pasted code are taken, so it may be longer than the code.
        assert!(field.contains("maxlength=\"24\"") && !field.contains("pattern="));
    }

    #[test]
    fn what_others_write_is_text_and_no_markup() {
        let evil = "<img src=x onerror=alert(1)>\"'";
        let language = PageLanguage::of("ar").unwrap();
        let mut page = consent(frame(language, &PageFiles::default()));
        page.client.logo = None;
        page.client.name = evil.to_owned();
        page.client.purpose = Some(evil.to_owned());
        page.essential.push(evil.to_owned());
        page.voluntary.push(choice(evil, false));
        let html = render(&page).unwrap();
        assert!(!html.contains("<img"));
    }
}
