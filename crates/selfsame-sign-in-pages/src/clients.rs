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
}
