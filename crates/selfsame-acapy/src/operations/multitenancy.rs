//! Sub-wallets: each is an organisation of the instance.

use selfsame_agent::AgentTerms;
use selfsame_app::config::AgentController;
use selfsame_app::{FoundWallet, NewWallet, WalletChange};
use selfsame_crypto::SecretString;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::answer::{OperationError, OperationResult, done, told};
use crate::call::{ListPart, OperationCall};
use crate::caller::refused_key;
use crate::settings::AdminSettings;

/// The mode in which the controller has the key of a sub-wallet.
const UNMANAGED: &str = "unmanaged";

#[derive(Deserialize)]
struct NewBody {
    wallet_name: Option<String>,
    wallet_key: Option<SecretString>,
    wallet_type: Option<String>,
    label: Option<String>,
    image_url: Option<String>,
    key_management_mode: Option<String>,
    wallet_webhook_urls: Option<Vec<String>>,
    wallet_dispatch_type: Option<String>,
    extra_settings: Option<Map<String, Value>>,
    group_id: Option<String>,
}

/// Who hears of a sub-wallet's records.
struct Dispatch {
    urls: Vec<String>,
    /// The way's name: `default`, `both` or `base`.
    kind: Option<String>,
}

impl Dispatch {
    /// The controllers: those of the sub-wallet, those of the agent, or both. Without any of its own, the agent's.
    fn controllers(&self, call: &OperationCall) -> OperationResult<Vec<AgentController>> {
        let own = self.urls.iter().map(|url| AgentController::parse(url));
        let mut controllers = own.collect::<Result<Vec<_>, _>>()?;
        let kind = match self.kind.as_deref() {
            Some("both") => "both",
            Some("base") => "base",
            _ if controllers.is_empty() => "base",
            _ => "default",
        };
        let organisation = &call.admin.settings().organisation;
        let mut agents = call.app().config().agents.iter();
        let agent = agents.find(|agent| agent.organisation == *organisation);
        if let Some(agent) = agent.filter(|_| kind != "default") {
            match kind {
                "base" => controllers.clone_from(&agent.controllers),
                _ => controllers.extend(agent.controllers.iter().cloned()),
            }
        }
        Ok(controllers)
    }
}

impl NewBody {
    /// The key without which no token is given.
    fn key(&self) -> OperationResult<Option<SecretString>> {
        match (self.mode(), &self.wallet_key) {
            (UNMANAGED, Some(key)) => Ok(Some(key.clone())),
            (UNMANAGED, None) => {
                let what = "Missing data for required field.";
                Err(OperationError::field("wallet_key", what))
            }
            _ => Ok(None),
        }
    }

    fn mode(&self) -> &str {
        self.key_management_mode.as_deref().unwrap_or("managed")
    }

    fn wallet(&self, call: &OperationCall) -> OperationResult<NewWallet> {
        let AdminSettings {
            organisation,
            terms,
            ..
        } = call.admin.settings();
        let dispatch = Dispatch {
            urls: self.wallet_webhook_urls.clone().unwrap_or_default(),
            kind: self.wallet_dispatch_type.clone(),
        };
        Ok(NewWallet {
            agent: organisation.clone(),
            name: self.wallet_name.clone().unwrap_or_default(),
            terms: AgentTerms {
                label: self.label.clone().unwrap_or_else(|| terms.label.clone()),
                ..terms.clone()
            },
            settings: settings(self),
            key: self.key()?,
            controllers: dispatch.controllers(call)?,
        })
    }
}

/// Creates a sub-wallet.
pub async fn create(call: OperationCall) -> OperationResult {
    let body: NewBody = call.body()?;
    let made = call.app().create_wallet(body.wallet(&call)?).await?;
    let token = call.app().wallet_token(&made).await?;
    let mut shown = shown(&made);
    shown["token"] = token.expose().into();
    told(&shown)
}

/// What is shown of a sub-wallet beside its names.
fn settings(body: &NewBody) -> Map<String, Value> {
    let mut settings = Map::new();
    let mut set = |name: &str, value: Value| {
        if !value.is_null() {
            settings.insert(name.to_owned(), value);
        }
    };
    set("key_management_mode", body.mode().into());
    set(
        "wallet.type",
        body.wallet_type
            .clone()
            .unwrap_or_else(|| "askar".to_owned())
            .into(),
    );
    set("image_url", json!(body.image_url));
    set("wallet.webhook_urls", json!(body.wallet_webhook_urls));
    set("wallet.dispatch_type", json!(body.wallet_dispatch_type));
    set("wallet.group_id", json!(body.group_id));
    for (name, value) in body.extra_settings.iter().flatten() {
        set(name, value.clone());
    }
    settings
}

fn shown(found: &FoundWallet) -> Value {
    let wallet = &found.wallet;
    let mut settings = wallet.settings.clone();
    let mode = settings.remove("key_management_mode");
    settings.insert("wallet.id".to_owned(), found.id.as_str().into());
    settings.insert("wallet.name".to_owned(), wallet.name.as_str().into());
    settings.insert("default_label".to_owned(), wallet.label.as_str().into());
    json!({
        "wallet_id": found.id,
        "created_at": wallet.created.rfc3339(),
        "updated_at": wallet.updated.rfc3339(),
        "key_management_mode": mode.unwrap_or_else(|| "managed".into()),
        "settings": settings,
        "organisation": wallet.organisation,
    })
}

async fn found(call: &OperationCall) -> OperationResult<FoundWallet> {
    let (agent, id) = (&call.admin.settings().organisation, call.at("wallet_id")?);
    Ok(call.app().wallet_of(agent, id).await?)
}

/// A sub-wallet.
pub async fn show(call: OperationCall) -> OperationResult {
    told(&shown(&found(&call).await?))
}

#[derive(Deserialize)]
struct ListQuery {
    wallet_name: Option<String>,
    #[serde(default)]
    offset: usize,
    limit: Option<usize>,
}

/// The sub-wallets.
pub async fn list(call: OperationCall) -> OperationResult {
    let asked: ListQuery = call.query()?;
    let part = ListPart::of(asked.offset, asked.limit);
    let all = call
        .app()
        .wallets_of(&call.admin.settings().organisation)
        .await?;
    let is_named = |found: &&FoundWallet| {
        let name = asked.wallet_name.as_ref();
        name.is_none_or(|name| found.wallet.name == *name)
    };
    let found = all.iter().filter(is_named).skip(part.offset);
    let results: Vec<_> = found.take(part.limit()).map(shown).collect();
    told(&json!({ "results": results }))
}

#[derive(Deserialize)]
struct ChangeBody {
    label: Option<String>,
    image_url: Option<String>,
    wallet_webhook_urls: Option<Vec<String>>,
    wallet_dispatch_type: Option<String>,
    extra_settings: Option<Map<String, Value>>,
}

impl ChangeBody {
    fn change(self, call: &OperationCall) -> OperationResult<WalletChange> {
        let mut settings = self.extra_settings.unwrap_or_default();
        for (name, value) in [
            ("image_url", json!(self.image_url)),
            ("wallet.webhook_urls", json!(self.wallet_webhook_urls)),
            ("wallet.dispatch_type", json!(self.wallet_dispatch_type)),
        ] {
            if !value.is_null() {
                settings.insert(name.to_owned(), value);
            }
        }
        let kind = self.wallet_dispatch_type;
        let dispatch = self.wallet_webhook_urls.map(|urls| Dispatch { urls, kind });
        let controllers = dispatch.map(|dispatch| dispatch.controllers(call));
        Ok(WalletChange {
            label: self.label,
            settings,
            controllers: controllers.transpose()?,
        })
    }
}

/// Changes a sub-wallet.
pub async fn update(call: OperationCall) -> OperationResult {
    let body: ChangeBody = call.body()?;
    let (wallet, change) = (found(&call).await?, body.change(&call)?);
    let terms = &call.admin.settings().terms;
    let changed = call.app().change_wallet(wallet, terms, change).await?;
    told(&shown(&changed))
}

#[derive(Deserialize)]
struct KeyBody {
    wallet_key: Option<SecretString>,
}

/// The sub-wallet that the body opens.
async fn opened(call: &OperationCall) -> OperationResult<FoundWallet> {
    let body: KeyBody = call.body()?;
    let wallet = found(call).await?;
    match wallet.is_opened_by(body.wallet_key.as_ref()) {
        true => Ok(wallet),
        false => Err(refused_key()),
    }
}

/// A new token of a sub-wallet.
pub async fn token(call: OperationCall) -> OperationResult {
    let wallet = opened(&call).await?;
    let token = call.app().wallet_token(&wallet).await?;
    told(&json!({ "token": token.expose() }))
}

/// Removes a sub-wallet, and erases its organisation.
pub async fn remove(call: OperationCall) -> OperationResult {
    let wallet = opened(&call).await?;
    call.app().remove_wallet(&wallet).await?;
    done()
}
