//! Applications for credentials that need others, until the form can be filled in.

use askama::Template;
use selfsame_catalogue::{Language, sentence};
use selfsame_types::CredentialType;
use selfsame_types::form::application::{ApplicationState, NeededCredential, ShownApplication};

use crate::{Frame, qr, wallet};

/// What a credential needs, before an application is begun.
#[derive(Template)]
#[template(path = "issuer_apply.html")]
pub struct ApplyPage {
    frame: Frame,
    type_id: String,
    title: String,
    summary: String,
    needs: Vec<NeededCredential>,
}

impl ApplyPage {
    /// The page of this type.
    pub fn of(frame: Frame, one: &CredentialType, needs: Vec<NeededCredential>) -> Self {
        Self {
            frame: frame.titled(one.name()),
            type_id: one.id.clone(),
            title: one.name().to_owned(),
            summary: one.summary().to_owned(),
            needs,
        }
    }
}

/// An application while the wallet is asked, and one that came to nothing.
#[derive(Template)]
#[template(path = "issuer_application.html")]
pub struct ApplicationPage {
    frame: Frame,
    title: String,
    application: ShownApplication,
    unmet: Vec<String>,
    qr: String,
    wallet_href: String,
}

impl ApplicationPage {
    /// The page of this application for the type with this title.
    pub fn of(frame: Frame, title: &str, application: ShownApplication) -> Self {
        let told = application.unmet.iter();
        let told = told.map(|reason| sentence(Language::English, reason).text);
        Self {
            frame: frame.titled(title),
            title: title.to_owned(),
            unmet: told.collect(),
            qr: qr::svg(&application.uri),
            wallet_href: wallet::link("/wallet/request", &application.uri),
            application,
        }
    }

    fn is_proven(&self) -> bool {
        self.application.state == ApplicationState::Proven
    }

    fn is_waiting(&self) -> bool {
        self.application.state == ApplicationState::Asked
    }
}

#[cfg(test)]
mod tests {
    use selfsame_driver::Reason;
    use selfsame_types::TypeSet;
    use serde_json::Map;

    use super::*;

    fn application(state: ApplicationState) -> ShownApplication {
        ShownApplication {
            id: "one".to_owned(),
            type_id: "immunization".to_owned(),
            version: 1,
            state,
            uri: "openid4vp://?x".to_owned(),
            until: "2026-03-02T10:00:00Z".to_owned(),
            needs: vec![needed("https://registry.example/")],
            unmet: Vec::new(),
            claims: Map::new(),
            locked: Vec::new(),
            offer: None,
            label: None,
        }
    }

    fn needed(get_at: &str) -> NeededCredential {
        NeededCredential {
            name: "company".to_owned(),
            title: "Company".to_owned(),
            vct_values: Vec::new(),
            issuers: vec!["did:web:registry.example".to_owned()],
            get_at: Some(get_at.to_owned()),
            is_proven: false,
        }
    }

    #[test]
    fn what_is_needed_is_told_with_the_place_where_to_get_it() {
        let types = TypeSet::of_samples("urn:selfsame:credential:");
        let one = types.find("immunization").unwrap();
        let needs = vec![needed("https://registry.example/apply")];
        let page = ApplyPage::of(Frame::of_visitor(), one, needs)
            .render()
            .unwrap();
        assert!(
            page.contains(r#"href="https://registry.example/apply""#),
            "{page}"
        );
        assert!(page.contains("did:web:registry.example"), "{page}");
        assert!(
            page.contains(r#"name="type" value="immunization""#),
            "{page}"
        );
    }

    #[test]
    fn while_the_wallet_is_asked_there_is_its_code_and_afterwards_there_are_the_reasons() {
        let page = |application| {
            let page = ApplicationPage::of(Frame::of_visitor(), "Permit", application);
            page.render().unwrap()
        };
        let asked = page(application(ApplicationState::Asked));
        assert!(asked.contains("class=\"waiting\"") && asked.contains("openid4vp://?x"));
        let mut refused = application(ApplicationState::Refused);
        refused
            .unmet
            .push(Reason::new("proof-missing").with("need", "Company"));
        let refused = page(refused);
        assert!(
            refused.contains("Company: the credential was not shown"),
            "{refused}"
        );
        assert!(!refused.contains("openid4vp://?x") && !refused.contains("class=\"waiting\""));
    }
}
