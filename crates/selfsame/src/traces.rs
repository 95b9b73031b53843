//! Where the traces of this process go: `[traces]` of the settings file, and the options and variables beside it.

use std::path::{Path, PathBuf};

use clap::Args;
use selfsame_app::traces::{CollectorHeader, TracesConfig};
use selfsame_crypto::SecretString;
use selfsame_driver::Reason;
use selfsame_server::Proxies;
use selfsame_terminal::exit::Failure;
use selfsame_traces::Sampling;
use serde::Deserialize;
use url::Url;

use crate::private_file;

const NAME: &str = "selfsame";
/// The longest list of headers.
const HEADERS_MAX: usize = 16;

const ENDPOINT: &str =
    "name the collector's base URL for OTLP over HTTP, such as http://localhost:4318/";
const HEADERS: &str = "write one header a line, such as `authorization: Bearer …`";

/// Options that name a collector of traces.
#[derive(Args, Default)]
pub struct TracesOptions {
    /// The base URL of an OpenTelemetry collector that traces are sent to, by OTLP over HTTP; default: no traces.
    #[arg(long, value_name = "URL", env = "OTEL_EXPORTER_OTLP_ENDPOINT")]
    traces: Option<String>,
    /// The name of this service in the traces; default: selfsame.
    #[arg(long, value_name = "NAME", env = "OTEL_SERVICE_NAME")]
    traces_service: Option<String>,
}

/// `[traces]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TracesSettings {
    /// The base URL of the collector.
    pub endpoint: Option<Url>,
    /// The name of this service in the traces.
    pub service_name: String,
    /// The part of the traces that begin here that is recorded, from 0 to 1.
    pub ratio: f64,
    /// The file with headers for the collector.
    pub headers_file: Option<PathBuf>,
    /// Networks of callers whose trace contexts are believed.
    pub trusted_callers: Vec<String>,
}

impl Default for TracesSettings {
    fn default() -> Self {
        Self {
            endpoint: None,
            service_name: NAME.to_owned(),
            ratio: 1.0,
            headers_file: None,
            trusted_callers: Vec::new(),
        }
    }
}

impl TracesOptions {
    /// What the options and the settings file say together; `None` if no collector is named.
    ///
    /// # Errors
    /// If a value can't work.
    pub fn config(
        self,
        file: TracesSettings,
        roots: &[Vec<u8>],
    ) -> Result<Option<TracesConfig>, Failure> {
        // An empty variable counts as unset (OpenTelemetry, "Environment Variable Specification").
        let named = self.traces.filter(|text| !text.is_empty());
        let named = named.map(|text| {
            let wrong = |_| Failure::environment(format!("{text} is not a URL")).hint(ENDPOINT);
            Url::parse(&text).map_err(wrong)
        });
        let Some(endpoint) = named.transpose()?.or(file.endpoint) else {
            return Ok(None);
        };
        let service = self.traces_service.filter(|name| !name.is_empty());
        Ok(Some(TracesConfig {
            endpoint: checked(endpoint)?,
            service: service.unwrap_or(file.service_name),
            sampling: Sampling::ratio(file.ratio)
                .map_err(|wrong| Failure::environment(format!("[traces] ratio: {wrong}")))?,
            headers: match &file.headers_file {
                Some(file) => headers(file)?,
                None => Vec::new(),
            },
            callers: callers(&file.trusted_callers)?,
            roots: roots.to_vec(),
        }))
    }
}

/// A base URL: without user, query or fragment, which have no meaning for a collector.
fn checked(endpoint: Url) -> Result<Url, Failure> {
    let is_web = matches!(endpoint.scheme(), "http" | "https") && endpoint.has_host();
    let has_user = !endpoint.username().is_empty() || endpoint.password().is_some();
    let has_more = endpoint.query().is_some() || endpoint.fragment().is_some();
    match is_web && !has_user && !has_more {
        true => Ok(endpoint),
        false => Err(
            Failure::environment("the URL of the collector of traces can't be used").hint(ENDPOINT),
        ),
    }
}

fn callers(networks: &[String]) -> Result<selfsame_traces::Callers, Failure> {
    let networks = Proxies::parse(networks)
        .map_err(|wrong| Failure::environment(format!("[traces] trusted_callers: {wrong}")))?;
    Ok(Box::new(move |address| networks.have(address)))
}

/// The headers in a file that others can't read.
fn headers(file: &Path) -> Result<Vec<CollectorHeader>, Failure> {
    let text = private_file::read(file, Reason::text(HEADERS))?;
    let lines = text.expose().lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty());
    let headers: Option<Vec<_>> = lines.map(header).collect();
    match headers {
        Some(headers) if headers.len() <= HEADERS_MAX => Ok(headers),
        _ => Err(Failure::environment(format!(
            "{}: it is not a list of at most {HEADERS_MAX} headers",
            file.display()
        ))
        .hint(HEADERS)),
    }
}

fn header(line: &str) -> Option<CollectorHeader> {
    let (name, value) = line.split_once(':')?;
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    let value = value.trim();
    let is_text = value.bytes().all(|b| (b' '..=b'~').contains(&b));
    let fits = !name.is_empty() && name.bytes().all(is_token) && is_text && !value.is_empty();
    fits.then(|| CollectorHeader {
        name: name.to_ascii_lowercase(),
        value: SecretString::from(value),
    })
}
