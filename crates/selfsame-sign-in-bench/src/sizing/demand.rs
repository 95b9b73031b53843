//! What is asked for: people, their busiest hour, and how they sign in.

use std::str::FromStr;

use serde::Serialize;

/// How people sign in.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SignInFlow {
    /// eSignet's seven calls, with tokens signed by RSA-2048.
    EsignetRsa,
    /// eSignet's seven calls, with tokens signed by ES256.
    EsignetEc,
    /// OpenID Connect's authorization code flow, on the provider's own pages.
    Standard,
}

/// All flows.
const FLOWS: [SignInFlow; 3] = [
    SignInFlow::EsignetRsa,
    SignInFlow::EsignetEc,
    SignInFlow::Standard,
];

impl SignInFlow {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::EsignetRsa => "esignet-rsa",
            Self::EsignetEc => "esignet-ec",
            Self::Standard => "standard",
        }
    }

    /// The requests of one sign-in.
    #[must_use]
    pub const fn requests(self) -> u32 {
        match self {
            Self::EsignetRsa | Self::EsignetEc => 7,
            Self::Standard => 5,
        }
    }

    /// The figure of the provider's processor time for one sign-in.
    pub(super) const fn figure(self) -> &'static str {
        match self {
            Self::EsignetRsa => "cpu_ms_rsa",
            Self::EsignetEc => "cpu_ms_ec",
            Self::Standard => "cpu_ms_standard",
        }
    }
}

/// A share of the sign-ins that go one way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FlowShare {
    /// The way.
    pub flow: SignInFlow,
    /// The share, in percent.
    pub percent: f64,
}

impl FromStr for FlowShare {
    type Err = String;

    /// Reads `standard`, or `standard=30` for 30 %.
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, percent) = text.split_once('=').unwrap_or((text, "100"));
        let flow = FLOWS.into_iter().find(|flow| flow.name() == name);
        let flow = flow.ok_or_else(|| {
            let names = FLOWS.map(SignInFlow::name).join(", ");
            format!("`{name}` is not one of {names}")
        })?;
        match percent.parse() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(Self { flow, percent }),
            _ => Err(format!("`{percent}` is not a percentage from 0 to 100")),
        }
    }
}

/// What is asked for.
#[derive(Clone, Debug, Serialize)]
pub struct SizeDemand {
    /// The people.
    pub people: u64,
    /// The share of them who sign in within the busiest hour, in percent.
    pub peak_percent: f64,
    /// The busiest moment's rate over the average of that hour.
    pub burst: f64,
    /// How they sign in.
    pub flows: Vec<FlowShare>,
    /// The time in which the identity system answers a call, in milliseconds.
    pub identity_ms: f64,
    /// The relying parties that a person signs in to.
    pub parties: f64,
    /// The sign-ins of a person in a year.
    pub sign_ins_year: f64,
    /// How long logs are kept, in days.
    pub log_days: f64,
    /// The share of a core that may be busy at the busiest moment, in percent.
    pub busy_percent: f64,
    /// The cores of each process.
    pub process_cores: u32,
    /// The database's cores in percent of the providers'.
    pub database_percent: f64,
}

impl SizeDemand {
    /// Whether the shares of the flows are all of the sign-ins.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let sum: f64 = self.flows.iter().map(|share| share.percent).sum();
        (sum - 100.0).abs() < 0.01
    }

    /// The sign-ins in a second, on average over the busiest hour.
    #[must_use]
    pub fn sign_ins_s(&self) -> f64 {
        self.people as f64 * self.peak_percent / 100.0 / 3_600.0
    }

    /// The requests of a sign-in, on average over the flows.
    #[must_use]
    pub fn requests(&self) -> f64 {
        self.average(|flow| f64::from(flow.requests()))
    }

    /// The average over the flows.
    pub(super) fn average(&self, of: impl Fn(SignInFlow) -> f64) -> f64 {
        let shares = self.flows.iter();
        shares
            .map(|share| share.percent / 100.0 * of(share.flow))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_has_a_share_or_is_the_only_one() {
        let read = |text: &str| text.parse::<FlowShare>();
        let percent = |text| read(text).map(|share| share.percent);
        assert_eq!(percent("standard"), Ok(100.0));
        assert_eq!(percent("esignet-ec=12.5"), Ok(12.5));
        assert!(read("saml").unwrap_err().contains("esignet-rsa"));
        for wrong in ["standard=101", "standard=-1", "standard=NaN", "standard="] {
            assert!(read(wrong).unwrap_err().contains("percentage"), "{wrong}");
        }
    }
}
