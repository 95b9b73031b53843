//! `selfsame demo sign-in`: a sample service at which people sign in with an instance's OpenID provider.

use std::net::SocketAddr;

use clap::Args;
use selfsame_api_commands::Instance;
use selfsame_crypto::SecretString;
use selfsame_driver::clock::Clock;
use selfsame_identity::upstream::UpstreamConfig;
use selfsame_net::{Net, Settings};
use selfsame_sample::{SampleService, SampleSettings};
use selfsame_server::Origin;
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::{interrupt, output};
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use selfsame_terminal::listening::bind;

/// What the sample is called at the provider. Each start replaces the client of the one before.
const CLIENT: &str = "selfsame-sample";
const CLIENTS: &str = "/api/sign-in/clients";

/// A cup.
const LOGO: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Cpath d='M4 6h13v8a5 5 0 0 1-5 5H9a5 5 0 0 1-5-5zM17 8h2a3 3 0 0 1 0 6h-2' fill='none' stroke='%231f4e79' stroke-width='2'/%3E%3C/svg%3E";

/// Serve a sample service at which people sign in with an instance's OpenID provider.
#[derive(Args)]
#[command(after_help = "Example: selfsame demo sign-in --organisation acme")]
pub struct SampleSignIn {
    #[command(flatten)]
    instance: Instance,
    /// Where the service listens, on this machine.
    #[arg(long, default_value = "127.0.0.1:7390")]
    listen: SocketAddr,
    /// The scopes that it asks for, `openid` among them.
    #[arg(long, default_value = "openid profile email phone")]
    scope: String,
}

/// The registration of the sample.
#[derive(Deserialize)]
struct RegisteredSample {
    client_id: String,
    client_secret: SecretString,
}

impl SampleSignIn {
    /// Registers the service, and serves it until it is told to stop.
    pub async fn run(self) -> End {
        if !self.listen.ip().is_loopback() {
            let told = format!("{}: the sample listens on this machine alone", self.listen);
            return Err(Failure::environment(told).hint("choose an address such as 127.0.0.1:7390"));
        }
        let listener = bind(self.listen).await?;
        let here = format!("http://{}/", listener.local_addr()?);
        let here = Url::parse(&here).map_err(|error| Failure::ours(error.to_string()))?;
        let client = self.registered(&here).await?;
        let issuer = self.issuer()?;
        let provider = issuer.host_str().unwrap_or_default().to_owned();
        let settings = Settings {
            own_origins: vec![issuer.origin()],
            hosts: selfsame_net::localhost(None),
            extra_roots: self.instance.roots.read()?,
            ..Settings::default()
        };
        let service = SampleService::new(SampleSettings {
            origin: Origin::of(&here).map_err(|error| Failure::environment(error.to_string()))?,
            client: UpstreamConfig {
                issuer,
                client_id: client.client_id,
                client_secret: client.client_secret,
                redirect_uri: at(&here, "callback")?,
                scope: self.scope.clone(),
                userinfo_alg: None,
            },
            provider,
            net: Net::new(settings).map_err(|error| Failure::environment(error.to_string()))?,
            clock: Clock::default(),
        });
        match self.instance.json {
            true => output::json(&json!({"sample": here})),
            false => output::say(&format!("The sample service is at {here}")),
        }
        service
            .serve(listener, interrupt::until_told_to_go())
            .await?;
        Ok(Answer::Yes)
    }

    /// Registers the service, in place of the one that was started before.
    async fn registered(&self, here: &Url) -> Result<RegisteredSample, Failure> {
        let operator = self.instance.operator()?;
        let old = format!("{CLIENTS}/{CLIENT}");
        if operator.get_any(&old).await?.0 == 200 {
            operator.delete::<Value>(&old).await?;
        }
        let new = json!({
            "client_id": CLIENT,
            "client_name": "Sample service",
            "client_name#fr": "Service d’exemple",
            "client_name#ar": "خدمة تجريبية",
            "client_name#hi": "नमूना सेवा",
            "client_name#pt": "Serviço de exemplo",
            "logo_uri": LOGO,
            "redirect_uris": [at(here, "callback")?],
            "post_logout_redirect_uris": [here],
            "token_endpoint_auth_method": "client_secret_post",
        });
        operator.post(CLIENTS, &new).await
    }

    /// The identifier of the organisation's provider.
    fn issuer(&self) -> Result<Url, Failure> {
        let Instance {
            instance,
            organisation,
            ..
        } = &self.instance;
        match organisation {
            Some(name) if !name.is_main() => at(instance, &format!("o/{name}/oidc")),
            _ => at(instance, "oidc"),
        }
    }
}

fn at(base: &Url, path: &str) -> Result<Url, Failure> {
    let joined = base.join(path);
    joined.map_err(|error| Failure::ours(format!("{path}: {error}")))
}
