//! A browser on a page of a sign-in: the provider, the sign-in, the language, and what stands around the page.

use axum::extract::{FromRequestParts, RawPathParams};
use axum::response::{Html, IntoResponse as _, Redirect};
use http::HeaderMap;
use http::header::ACCEPT_LANGUAGE;
use http::request::Parts;
use selfsame_driver::Error;
use selfsame_http::error::{Handled, Problem};
use selfsame_oidc_endpoints::ProviderHere;
use selfsame_pages::{Frame, assets};
use selfsame_sign_in::SignInVisitor;
use selfsame_sign_in::view::AskingClientView;
use selfsame_sign_in_pages::{
    PageFiles, PageLanguage, PageOrganisation, SignInFrame, Template, render,
};

/// The parameter by which a person chooses the language of the pages.
const LANGUAGE: &str = "ui_locales";

/// A browser on a page of a sign-in.
pub struct SignInCall {
    /// The provider.
    pub here: ProviderHere,
    /// The sign-in, or the session or client that a page is about.
    pub id: String,
    /// What the paths of the pages of a sign-in begin with.
    pub root: String,
    /// What a page of the sign-in is about: a request for a credential.
    pub part: String,
    /// The way that was chosen.
    pub way: String,
    chosen: Vec<String>,
    headers: HeaderMap,
    frame: Frame,
}

impl<S> FromRequestParts<S> for SignInCall
where
    S: Send + Sync,
    ProviderHere: FromRequestParts<S, Rejection = Problem>,
    Frame: FromRequestParts<S, Rejection = Problem>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let params = RawPathParams::from_request_parts(parts, state).await;
        let params = params.map_err(Error::internal)?;
        let named = |wanted: &str| {
            let mut params = params.iter();
            let found = params.find(|(name, _)| *name == wanted);
            found.map(|(_, value)| value.to_owned()).unwrap_or_default()
        };
        let query = parts.uri.query().unwrap_or_default();
        let (way, chosen) = (parameter(query, "way"), parameter(query, LANGUAGE));
        let here = ProviderHere::from_request_parts(parts, state).await?;
        Ok(Self {
            root: format!("{}sign-in", here.root.trim_end_matches("oidc/")),
            here,
            id: named("id"),
            part: named("request"),
            way: way.unwrap_or_default(),
            chosen: chosen.into_iter().collect(),
            headers: parts.headers.clone(),
            frame: Frame::from_request_parts(parts, state).await?,
        })
    }
}

impl SignInCall {
    /// The visitor of the sign-in.
    pub fn visitor(&self) -> SignInVisitor {
        self.here.visitor(self.id.clone(), &self.headers)
    }

    /// The headers of the request.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The language of the page: the one that was chosen on it, else one that the client asks for, else the browser's.
    pub fn language(&self, ui_locales: &[String]) -> &'static PageLanguage {
        let wanted = [&self.chosen, ui_locales].concat();
        let accepted = self.headers.get(ACCEPT_LANGUAGE);
        PageLanguage::best(&wanted, accepted.and_then(|value| value.to_str().ok()))
    }

    /// What stands around a page in this language, which can be opened at `address`.
    pub fn frame(&self, language: &'static PageLanguage, address: String) -> SignInFrame {
        let organisation = self.frame.organisation.as_ref();
        let look = organisation.map(|own| &own.look);
        let logo = look.filter(|look| !look.logo.is_empty());
        SignInFrame {
            language,
            files: PageFiles {
                style: assets::url("app.css"),
                colours: look
                    .and_then(|look| look.sheet())
                    .map(|name| assets::url(&name)),
                script: assets::url("app.js"),
                icon: assets::url("mark.svg"),
            },
            organisation: PageOrganisation {
                title: organisation.map_or_else(|| self.host(), |own| own.title.clone()),
                logo: logo.map_or_else(String::new, |look| {
                    format!("{}{}", self.frame.here, look.logo)
                }),
                class: look.map_or_else(String::new, |look| look.class().trim().to_owned()),
            },
            form: self.frame.form.clone(),
            address,
        }
    }

    /// The host of the instance, which stands for an organisation without a name of its own.
    fn host(&self) -> String {
        let origin = self.here.origin.as_str();
        let host = origin.split_once("://").map_or(origin, |(_, host)| host);
        host.trim_end_matches('/').to_owned()
    }

    /// The address of a page of this sign-in, in the language that was chosen.
    pub fn step(&self, step: &str) -> String {
        let chosen = self.chosen.first();
        let language = chosen.and_then(|tag| PageLanguage::of(tag));
        let query = language.map_or_else(String::new, |one| format!("?{LANGUAGE}={}", one.tag()));
        format!("{}/{}{step}{query}", self.root, self.id)
    }

    /// An address with one more parameter.
    pub fn with(&self, address: &str, parameter: &str) -> String {
        let joint = match address.contains('?') {
            true => '&',
            false => '?',
        };
        format!("{address}{joint}{parameter}")
    }

    /// The address of this sign-in without a language.
    pub fn address(&self) -> String {
        format!("{}/{}", self.root, self.id)
    }
}

/// The first value of a parameter.
fn parameter(query: &str, wanted: &str) -> Option<String> {
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    let found = pairs.find(|(name, _)| name == wanted);
    found.map(|(_, value)| value.into_owned())
}

/// A page as a response.
pub fn shown(page: &impl Template) -> Handled {
    Ok(Html(render(page)?).into_response())
}

/// Leads on to a page.
pub fn led(to: &str) -> Handled {
    Ok(Redirect::to(to).into_response())
}

/// The name of a client in a language, else its name without one, else its identifier.
pub fn named(client: &AskingClientView, language: &PageLanguage) -> String {
    let named = [language.tag(), ""].into_iter();
    let mut names = named.filter_map(|tag| client.names.get(tag));
    names.next().unwrap_or(&client.client_id).clone()
}
