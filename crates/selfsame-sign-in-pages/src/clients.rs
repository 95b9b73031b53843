//! The services at which people sign in, for those who work for the organisation.

use askama::Template;
use selfsame_catalogue::when;

/// A service in the list.
pub struct ListedClient {
    /// Its identifier.
    pub id: String,
    /// Its name; empty without one.
    pub name: String,
    /// The hosts to which people come back.
    pub hosts: Vec<String>,
    /// When it was registered, as RFC 3339.
    pub made: String,
}

/// The content of the page of all services, with the form of a new one.
#[derive(Template)]
#[template(path = "clients.html")]
pub struct ClientsContent {
    /// What the paths of these pages begin with.
    pub root: String,
    /// The form token.
    pub form: String,
    /// The services.
    pub clients: Vec<ListedClient>,
    /// The cursor of the next page.
    pub next: Option<String>,
    /// The provider's identifier, which a service needs.
    pub issuer: String,
    /// What was typed in.
    pub typed: TypedClient,
    /// What can be corrected.
    pub problem: Option<String>,
}

/// What is typed in of a new service.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TypedClient {
    /// Its name.
    pub name: String,
    /// The addresses to which people come back, one a line.
    pub redirect_uris: String,
    /// Whether it keeps access while people are away.
    pub is_offline: bool,
}

/// The content of the page of a service.
#[derive(Template)]
#[template(path = "client.html")]
pub struct ClientContent {
    /// What the paths of these pages begin with.
    pub root: String,
    /// The form token.
    pub form: String,
    /// The service.
    pub client: ListedClient,
    /// Its secret, just made: it is shown once.
    pub secret: Option<String>,
    /// Whether it authenticates with a secret.
    pub has_secret: bool,
    /// The provider's identifier.
    pub issuer: String,
    /// Its registration, as JSON.
    pub registration: String,
    /// Its logo, as a `data:` URI.
    pub logo: Option<String>,
    /// Whether it has a logo that could not be had.
    pub lacks_logo: bool,
    /// Its sign-ins of the last days, newest first.
    pub sign_ins: Vec<EndedSignIn>,
    /// The cursor of the older ones.
    pub older: Option<String>,
}

/// A sign-in that is over.
pub struct EndedSignIn {
    /// When it ended, as RFC 3339.
    pub at: String,
    /// Whether the person declined.
    pub is_declined: bool,
    /// The subject that the service knows the person by.
    pub subject: String,
    /// The class of the authentication.
    pub acr: Option<String>,
    /// How the person proved who they are.
    pub amr: Vec<String>,
}

impl EndedSignIn {
    /// When it ended, for people.
    fn at(&self) -> String {
        when::short(&self.at)
    }

    /// How the person proved who they are, in words as far as there are any (RFC 8176 §2).
    fn ways(&self) -> String {
        let ways = self.amr.iter().map(|method| match method.as_str() {
            "pwd" => "password",
            "otp" => "one-time password",
            "pin" => "PIN",
            "pop" => "key or credential",
            "hwk" => "passkey",
            "bio" => "biometrics",
            "kba" => "questions",
            "fed" => "another provider",
            other => other,
        });
        ways.collect::<Vec<_>>().join(", ")
    }
}

impl ListedClient {
    /// Its name, or its identifier without one.
    fn called(&self) -> &str {
        match self.name.as_str() {
            "" => &self.id,
            name => name,
        }
    }

    /// When it was registered, for people.
    fn made(&self) -> String {
        when::short(&self.made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed() -> ListedClient {
        ListedClient {
            id: "c/1".to_owned(),
            name: "<b>Library</b>".to_owned(),
            hosts: vec!["library.example".to_owned()],
            made: "2026-01-02T03:04:05Z".to_owned(),
        }
    }

    #[test]
    fn a_list_without_services_says_what_one_is_and_a_list_names_each_as_text() {
        let page = |clients| ClientsContent {
            root: "/o/acme/clients".to_owned(),
            form: "token".to_owned(),
            clients,
            next: None,
            issuer: "https://id.example/o/acme/oidc".to_owned(),
            typed: TypedClient::default(),
            problem: None,
        };
        let none = page(Vec::new()).render().unwrap();
        assert!(none.contains("No services yet"), "{none}");
        let some = page(vec![listed()]).render().unwrap();
        assert!(some.contains("href=\"/o/acme/clients/c%2F1\""), "{some}");
        assert!(some.contains("&#60;b&#62;Library") && some.contains("library.example"));
    }

    #[test]
    fn a_secret_is_shown_once_and_only_a_service_with_one_gets_a_new_one() {
        let page = |secret: Option<&str>, has_secret| ClientContent {
            root: "/clients".to_owned(),
            form: "token".to_owned(),
            client: listed(),
            secret: secret.map(str::to_owned),
            has_secret,
            issuer: "https://id.example/oidc".to_owned(),
            registration: "{}".to_owned(),
            logo: None,
            lacks_logo: false,
            sign_ins: Vec::new(),
            older: None,
        };
        let made = page(Some("s3cret"), true).render().unwrap();
        assert!(made.contains("s3cret") && made.contains("You will not see it again"));
        let later = page(None, true).render().unwrap();
        assert!(!later.contains("s3cret") && later.contains("/clients/c%2F1/secret"));
        assert!(
            !page(None, false)
                .render()
                .unwrap()
                .contains("/clients/c%2F1/secret")
        );
    }

    #[test]
    fn sign_ins_are_listed_with_how_people_proved_who_they_are() {
        let page = |sign_ins, older: Option<&str>| ClientContent {
            root: "/clients".to_owned(),
            form: "token".to_owned(),
            client: listed(),
            secret: None,
            has_secret: false,
            issuer: "https://id.example/oidc".to_owned(),
            registration: "{}".to_owned(),
            logo: None,
            lacks_logo: false,
            sign_ins,
            older: older.map(str::to_owned),
        };
        let none = page(Vec::new(), None).render().unwrap();
        assert!(none.contains("There were no sign-ins"), "{none}");
        let one = |is_declined| EndedSignIn {
            at: "2026-01-02T03:04:05Z".to_owned(),
            is_declined,
            subject: "<i>".to_owned(),
            acr: Some("phr".to_owned()),
            amr: vec!["pwd".to_owned(), "otp".to_owned()],
        };
        let some = page(vec![one(false), one(true)], Some("a/b"))
            .render()
            .unwrap();
        for part in [
            "password, one-time password",
            "Signed in",
            "Declined",
            "&#60;i&#62;",
            "/clients/c%2F1?after=a%2Fb",
        ] {
            assert!(some.contains(part), "{part}: {some}");
        }
    }
}
