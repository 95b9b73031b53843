//! The services at which people sign in, for those who work for the organisation: listed, registered, removed.

use axum::response::{IntoResponse as _, Redirect, Response};
use http::StatusCode;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Error;
use selfsame_driver::paging::Paging;
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::{Form, Path, Query};
use selfsame_oidc::{ClientRegistration, Preset};
use selfsame_oidc_endpoints::ProviderHere;
use selfsame_pages::Frame;
use selfsame_sign_in::clients::WantedClient;
use selfsame_sign_in::past::{PastSignIn, SignInOutcome};
use selfsame_sign_in::registering::ClientInformation;
use selfsame_sign_in_pages::clients::{
    ClientContent, ClientsContent, EndedSignIn, ListedClient, TypedClient,
};
use url::Url;

use crate::account::shown;

const TITLE: &str = "Services with sign-in";
/// The ways to authenticate that need a secret (OpenID Connect Core §9).
const WITH_SECRET: [&str; 2] = ["client_secret_basic", "client_secret_post"];

/// The services, and the form of a new one.
pub async fn list(here: ProviderHere, frame: Frame, Query(paging): Query<Paging>) -> Handled {
    let content = content(&here, &frame, &paging).await?;
    shown(frame, TITLE, &content)
}

/// Registers a service, and shows its secret.
pub async fn create(here: ProviderHere, frame: Frame, form: Form) -> Handled {
    let typed = typed(&form);
    match here.provider.register(wanted(&typed)).await {
        Ok(made) => secret_page(&here, frame, &made).await,
        Err(error) => {
            let problem = Problem::from(error);
            if problem.status() != StatusCode::BAD_REQUEST {
                return Err(problem);
            }
            let content = ClientsContent {
                typed,
                problem: Some(problem.told().text),
                ..content(&here, &frame, &Paging::default()).await?
            };
            let page = shown(frame.failed(TITLE), TITLE, &content)?;
            Ok((StatusCode::BAD_REQUEST, page).into_response())
        }
    }
}

/// One service.
pub async fn page(
    here: ProviderHere,
    frame: Frame,
    Path(id): Path<String>,
    Query(paging): Query<Paging>,
) -> Handled {
    let client = here.provider.client(&id).await?;
    one(&here, frame, &client, &paging).await
}

/// Makes a new secret, and shows it.
pub async fn new_secret(here: ProviderHere, frame: Frame, Path(id): Path<String>) -> Handled {
    let secret = here.provider.new_client_secret(&id).await?;
    let client = ClientInformation {
        client_secret: Some(secret),
        ..here.provider.client(&id).await?
    };
    one(&here, frame, &client, &Paging::default()).await
}

/// Removes a service.
pub async fn remove(here: ProviderHere, frame: Frame, Path(id): Path<String>) -> Handled {
    here.provider.remove_client(&id).await?;
    Ok(Redirect::to(&root(&frame)).into_response())
}

async fn secret_page(here: &ProviderHere, frame: Frame, made: &ClientInformation) -> Handled {
    let page: Response = one(here, frame, made, &Paging::default()).await?;
    Ok((StatusCode::CREATED, page).into_response())
}

async fn one(
    here: &ProviderHere,
    frame: Frame,
    client: &ClientInformation,
    paging: &Paging,
) -> Handled {
    let past = here.provider.past(&client.client_id, paging).await?;
    let registration = &client.registration;
    let written = serde_json::to_string_pretty(registration).map_err(Error::internal)?;
    let content = ClientContent {
        root: root(&frame),
        form: frame.form.clone(),
        client: listed(client),
        secret: secret(client),
        has_secret: has_secret(registration),
        issuer: here.provider.place().issuer().to_owned(),
        registration: written,
        logo: client.logo.clone(),
        lacks_logo: client.logo.is_none() && registration.logo_uri.is_some(),
        sign_ins: past.items.iter().map(ended).collect(),
        older: past.next,
    };
    shown(frame, TITLE, &content)
}

/// The secret that was just made.
fn secret(client: &ClientInformation) -> Option<String> {
    let secret = client.client_secret.as_ref()?;
    Some(secret.expose().to_owned())
}

/// Whether a service authenticates with a secret. RFC 7591 §2: the default is client_secret_basic.
fn has_secret(registration: &ClientRegistration) -> bool {
    let method = registration.token_endpoint_auth_method.as_deref();
    method.is_none_or(|method| WITH_SECRET.contains(&method))
}

async fn content(here: &ProviderHere, frame: &Frame, paging: &Paging) -> Handled<ClientsContent> {
    let found = here.provider.client_list(paging).await?;
    Ok(ClientsContent {
        root: root(frame),
        form: frame.form.clone(),
        clients: found.items.iter().map(listed).collect(),
        next: found.next,
        issuer: here.provider.place().issuer().to_owned(),
        typed: TypedClient::default(),
        problem: None,
    })
}

fn root(frame: &Frame) -> String {
    format!("{}/clients", frame.here)
}

fn listed(client: &ClientInformation) -> ListedClient {
    let registration = &client.registration;
    let hosts = registration.redirect_uris.iter().map(|uri| host(uri));
    let mut hosts: Vec<String> = hosts.collect();
    hosts.dedup();
    ListedClient {
        id: client.client_id.clone(),
        name: registration.client_name.clone().unwrap_or_default(),
        hosts,
        made: UnixTime(client.client_id_issued_at).rfc3339(),
    }
}

fn ended(past: &PastSignIn) -> EndedSignIn {
    EndedSignIn {
        at: past.at.clone(),
        is_declined: past.outcome == SignInOutcome::Declined,
        subject: past.subject.clone(),
        acr: past.acr.clone(),
        amr: past.amr.clone(),
    }
}

/// The host of an address, or all of it without one.
fn host(uri: &str) -> String {
    let url = Url::parse(uri).ok();
    let host = url.as_ref().and_then(Url::host_str);
    host.unwrap_or(uri).to_owned()
}

fn typed(form: &Form) -> TypedClient {
    let text = |name| form.one(name).unwrap_or_default().to_owned();
    TypedClient {
        name: text("name"),
        redirect_uris: text("redirect_uris"),
        is_offline: form.one("offline").is_some(),
    }
}

fn wanted(typed: &TypedClient) -> WantedClient {
    let mut grants = vec!["authorization_code".to_owned()];
    if typed.is_offline {
        grants.push("refresh_token".to_owned());
    }
    let uris = typed.redirect_uris.split_whitespace();
    WantedClient {
        client_id: None,
        registration: ClientRegistration {
            client_name: Some(typed.name.clone()),
            redirect_uris: uris.map(str::to_owned).collect(),
            grant_types: grants,
            ..ClientRegistration::default()
        },
        preset: Preset::default(),
        reads_tokens: false,
        fetches_logo: true,
    }
}
