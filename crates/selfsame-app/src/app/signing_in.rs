//! The OpenID providers of an instance's organisations, and the system that knows people for them.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use selfsame_accounts::Accounts;
use selfsame_core::Shared;
use selfsame_core::organisation::Organisation;
use selfsame_crypto::SecretString;
use selfsame_driver::{Error, ErrorKind, Reason, Result, private_file};
use selfsame_identity::accounts::{HasAccounts, OwnAccounts};
use selfsame_identity::blocks::BlockedPeople;
use selfsame_identity::config::{MailSection, People, SignInConfig, TextSection, UpstreamSection};
use selfsame_identity::joined::JoinedSystems;
use selfsame_identity::links::Links;
use selfsame_identity::mock::{MockConfig, MockIdentities, MockResources, RemoteMock};
use selfsame_identity::otp::{MailCarrier, OnScreen, OtpCarrier, OtpDesk, TextGateway};
use selfsame_identity::presentation::Presentations;
use selfsame_identity::totp::Authenticators;
use selfsame_identity::upstream::{Upstream, UpstreamConfig};
use selfsame_net::mail::{MailServer, MailSettings};
use selfsame_oidc::{AcrTable, Preset};
use selfsame_operators::{Area, Authority};
use selfsame_sign_in::identity::{IdentitySystem, OtpChannel, WaySettings};
use selfsame_sign_in::{CALLS_EACH, SignInParts, SignInService, SignIns};
use selfsame_wallet::Wallet;

use super::App;
use super::presenting::VerifierDesk;
use super::seats::{ManagerOfClients, audited};

/// Where eSignet's interface is, below an organisation's base.
const ESIGNET: &str = "v1/esignet";

/// Who knows people, and what signs them in.
pub(super) struct KnownPeople {
    service: Arc<SignInService>,
    mock: Option<MockIdentities>,
    authenticators: Option<Authenticators>,
    blocked: Arc<BlockedPeople>,
    links: Arc<Links>,
    preset: Preset,
    has_esignet: bool,
}

/// What eSignet's interface stands on.
#[derive(Clone)]
pub struct EsignetParts {
    /// The provider.
    pub sign_ins: SignIns,
    /// The people who are blocked for a while.
    pub blocked: Arc<BlockedPeople>,
    /// The sign-ins that wallets take over.
    pub links: Arc<Links>,
    /// The mock identity system, if it signs claims here.
    pub mock: Option<MockIdentities>,
    /// The rules of clients that are registered by the interface.
    pub preset: Preset,
}

/// The accounts of a wallet.
struct WalletAccounts(Arc<Wallet>);

impl HasAccounts for WalletAccounts {
    fn accounts(&self) -> &Accounts {
        self.0.accounts()
    }
}

impl App {
    /// Settles who knows people. Called once, before anybody signs in.
    ///
    /// # Errors
    /// `BadRequest` for settings that can't work.
    pub fn know_people(&self, config: &SignInConfig) -> Result<()> {
        let people = self.assemble(config)?;
        if let Some(section) = &config.mail {
            // Offers are mailed by the server that mails one-time passwords.
            self.lists.mail_by(Arc::new(mail_server(section)?));
        }
        let late = |_| Error::internal("it was settled before who knows people");
        self.people.set(people).map_err(late)
    }

    /// The OpenID provider of an organisation.
    ///
    /// # Errors
    /// `NotFound` if this instance knows no people.
    pub fn sign_ins(&self, organisation: &Organisation) -> Result<SignIns> {
        self.people()?.service.of(organisation)
    }

    /// What eSignet's interface of an organisation stands on.
    ///
    /// # Errors
    /// `NotFound` if the interface is not served.
    pub fn esignet(&self, organisation: &Organisation) -> Result<EsignetParts> {
        let people = self.people()?;
        if !people.has_esignet {
            return Err(Error::not_found("address-unknown"));
        }
        Ok(EsignetParts {
            sign_ins: people.service.of(organisation)?,
            blocked: people.blocked.clone(),
            links: people.links.clone(),
            mock: people.mock.clone(),
            preset: people.preset,
        })
    }

    /// Who manages clients by eSignet's interface with this bearer token. The operator may, a program with an API key and
    /// the right to change the organisation's settings, and anyone with the tolerances of older versions.
    ///
    /// # Errors
    /// The store's.
    pub async fn manager_of_clients(
        &self,
        organisation: &Organisation,
        token: Option<&str>,
    ) -> Result<ManagerOfClients> {
        let authority = match token {
            Some(token) if self.operator.is_token(token) => Some(Authority::token()),
            Some(token) => self.operators.of_key(token).await?,
            None => None,
        };
        let right = Area::Settings.write();
        let has_right = |authority: &Authority| authority.may(&organisation.name, right);
        let is_open = self.people()?.preset == Preset::LegacyEsignet;
        Ok(ManagerOfClients {
            may: is_open || authority.as_ref().is_some_and(has_right),
            actor: authority.map(|authority| audited(&authority.actor)),
        })
    }

    /// The mock identity system.
    ///
    /// # Errors
    /// `NotFound` if it is not the one that knows people here.
    pub fn mock_identities(&self) -> Result<&MockIdentities> {
        let mock = self.people()?.mock.as_ref();
        mock.ok_or_else(|| Error::not_found("address-unknown"))
    }

    /// The authenticator apps of people with accounts here.
    ///
    /// # Errors
    /// `NotFound` if others know people.
    pub fn authenticators(&self) -> Result<&Authenticators> {
        let authenticators = self.people()?.authenticators.as_ref();
        authenticators.ok_or_else(|| Error::not_found("address-unknown"))
    }

    /// The keys by which issuers know the attester of its wallet (a JWK Set).
    ///
    /// # Errors
    /// `NotFound` if it keeps no wallets; the store's.
    pub async fn attester_keys(&self) -> Result<serde_json::Value> {
        let known = self.wallet()?.attester().known().await?;
        Ok(known.keys.to_value())
    }

    fn people(&self) -> Result<&KnownPeople> {
        if let Some(people) = self.people.get() {
            return Ok(people);
        }
        let _settling = self.settling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(people) = self.people.get() {
            return Ok(people);
        }
        let people = self.assemble(&SignInConfig::default())?;
        Ok(self.people.get_or_init(|| people))
    }

    fn assemble(&self, config: &SignInConfig) -> Result<KnownPeople> {
        let shared = &self.shared;
        let (mut mock, mut authenticators) = (None, None);
        let system: Arc<dyn IdentitySystem> = match (config.people, &config.mock.url) {
            (People::Accounts, _) => {
                let own = self.accounts(config)?;
                authenticators = Some(own.authenticators.clone());
                Arc::new(own)
            }
            (People::Mock, None) => Arc::new(mock.insert(self.mock(config)?).clone()),
            (People::Mock, Some(url)) => Arc::new(RemoteMock {
                net: shared.net.clone(),
                base: url.clone(),
                time_out: config.mock.time_out(),
                calls_at_once: config.mock.calls_at_once(),
            }),
            (People::Upstream, _) => {
                let unset = || Error::bad_request("sign-in-upstream-unset");
                let section = config.upstream.as_ref().ok_or_else(unset)?;
                Arc::new(self.other_provider(section)?)
            }
        };
        let presentations = self.presentations();
        let mut further: Vec<Arc<dyn IdentitySystem>> = Vec::new();
        if let Some(presentations) = &presentations {
            further.push(presentations.clone());
        }
        if let (Some(section), true) = (&config.upstream, config.people != People::Upstream) {
            further.push(Arc::new(self.other_provider(section)?));
        }
        let system = JoinedSystems::new(system, further);
        let acr = AcrTable::default();
        let service = SignInService::new(SignInParts {
            shared: shared.clone(),
            system: Arc::new(system),
            wallet_settings: presentations.map(|one| -> Arc<dyn WaySettings> { one }),
            preset: config.preset,
            acr: if config.esignet {
                acr.with_mosip()
            } else {
                acr
            },
            locales: vec!["en", "fr", "ar", "hi", "pt"],
            calls_each: config.calls_per_address.unwrap_or(CALLS_EACH),
            keys_in_hsm: config.pkcs11_keys,
            credentials: self.credential_scopes(),
            gate: Some(self.roles.gate().clone()),
        });
        Ok(KnownPeople {
            service: Arc::new(service),
            mock,
            authenticators,
            blocked: Arc::new(BlockedPeople::new(
                shared.store.clone(),
                shared.clock.clone(),
            )),
            links: Arc::new(Links::new(shared.store.clone(), shared.clock.clone())),
            preset: config.preset,
            has_esignet: config.esignet,
        })
    }

    /// Sign-in with credentials, if this instance verifies any.
    fn presentations(&self) -> Option<Arc<Presentations>> {
        let shared = &self.shared;
        let has_verifiers = self.roles.main.verifier.is_some();
        has_verifiers.then(|| {
            let desk = Arc::new(VerifierDesk(self.roles.clone()));
            let (store, clock) = (shared.store.clone(), shared.clock.clone());
            Arc::new(Presentations::new(desk, store, clock))
        })
    }

    fn accounts(&self, config: &SignInConfig) -> Result<OwnAccounts> {
        let absent = || Error::of(ErrorKind::NotFound, Reason::new("wallets-absent"));
        let wallet = self.wallet.clone().ok_or_else(absent)?;
        let shared = &self.shared;
        let carriers = carriers(shared, config)?;
        let desk = OtpDesk::new(shared.store.clone(), shared.clock.clone(), carriers);
        Ok(OwnAccounts {
            people: Arc::new(WalletAccounts(wallet)),
            authenticators: Authenticators::new(desk.clone()),
            desk,
        })
    }

    fn mock(&self, config: &SignInConfig) -> Result<MockIdentities> {
        let shared = &self.shared;
        let issuer = Organisation::main(&self.config.origin)?.url(ESIGNET)?;
        let config = MockConfig {
            issuer: issuer.into(),
            delay: config.mock.delay(),
            algorithm: config.mock.algorithm,
            codes_on_screen: config.codes_on_screen,
        };
        let resources = MockResources {
            store: shared.store.clone(),
            keys: shared.keys.clone(),
            clock: shared.clock.clone(),
            work: shared.work.clone(),
        };
        MockIdentities::new(config, resources)
    }

    fn other_provider(&self, section: &UpstreamSection) -> Result<Upstream> {
        let shared = &self.shared;
        let redirect_uri = Organisation::main(&self.config.origin)?.url("oidc/upstream")?;
        let scope = section.scope.clone();
        let config = UpstreamConfig {
            issuer: section.issuer.clone(),
            client_id: section.client_id.clone(),
            client_secret: secret(&section.client_secret_file)?,
            redirect_uri,
            scope: scope.unwrap_or_else(|| "openid profile email".to_owned()),
            userinfo_alg: section.userinfo_signed_response_alg,
        };
        let (net, store) = (shared.net.clone(), shared.store.clone());
        Ok(Upstream::new(config, net, store, shared.clock.clone()))
    }
}

/// What brings codes to people. Codes on the screen are for trying out, where there is nothing else.
fn carriers(shared: &Arc<Shared>, config: &SignInConfig) -> Result<Vec<Arc<dyn OtpCarrier>>> {
    let mut carriers: Vec<Arc<dyn OtpCarrier>> = Vec::new();
    if let Some(section) = &config.mail {
        let server = mail_server(section)?;
        carriers.push(Arc::new(MailCarrier { server }));
    }
    if let Some(section) = &config.text_messages {
        carriers.push(Arc::new(text_gateway(shared, section)?));
    }
    if config.codes_on_screen {
        tracing::warn!(
            "one-time passwords are shown on the screen of the browser that asks for one"
        );
        carriers.push(Arc::new(OnScreen {
            store: shared.store.clone(),
            clock: shared.clock.clone(),
            channel: OtpChannel::Email,
        }));
    }
    Ok(carriers)
}

fn mail_server(section: &MailSection) -> Result<MailServer> {
    let password = section.password_file.as_deref().map(secret).transpose()?;
    let settings = MailSettings {
        url: section.url.clone(),
        user: section.user.clone(),
        password,
        from: section.from.clone(),
        root: None,
    };
    let server = MailServer::new(&settings);
    server.map_err(|error| Error::bad_request("sign-in-mail-invalid").with("detail", &error))
}

fn text_gateway(shared: &Arc<Shared>, section: &TextSection) -> Result<TextGateway> {
    let token = section.token_file.as_deref().map(secret).transpose()?;
    Ok(TextGateway {
        net: shared.net.clone(),
        url: section.url.clone(),
        token,
    })
}

/// A secret that stands in a file of its own.
fn secret(file: &Path) -> Result<SecretString> {
    private_file::read(file, Reason::new("sign-in-secret-file"))
}
