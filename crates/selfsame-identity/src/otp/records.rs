//! The records of one-time passwords: the codes of a sign-in, and the allowances of account, pair and address.

use std::net::{IpAddr, Ipv4Addr};

use selfsame_crypto::encoding;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_driver::crowd::counted_address;
use selfsame_driver::record::{decode, encode};
use selfsame_otp::sent::{OtpMeter, OtpRecord};
use selfsame_otp::{AllowanceLimits, OtpAllowance};
use selfsame_store::{Batch, Expect, Put, Store, TenantId};
use serde::de::DeserializeOwned;

use super::OtpFor;

/// The codes of a sign-in.
const CODES: &str = "otp_codes";
/// An allowance.
const ALLOWANCE: &str = "otp_allowance";

/// Where the records of a step are.
pub(crate) struct OtpPlace {
    codes: String,
    /// Each with its limits.
    allowances: Vec<(String, AllowanceLimits)>,
}

/// The records of a step as they were read.
pub(crate) struct LoadedOtp {
    pub codes: OtpRecord,
    pub meters: Vec<OtpMeter>,
    codes_were: Expect,
    meters_were: Vec<Expect>,
}

impl OtpPlace {
    pub(crate) fn of(what: OtpFor<'_>, key: &SealingKey) -> Self {
        let name = |text: String| encoding::base64url_encode(&key.mac(text.as_bytes()));
        let account = what.account;
        let mut allowances = vec![(
            name(format!("account\0{account}")),
            AllowanceLimits::ACCOUNT,
        )];
        if let Some(from) = what.from {
            let network = neighbourhood(from);
            let pair = name(format!("pair\0{account}\0{network}"));
            allowances.push((pair, AllowanceLimits::PAIR));
            let address = name(format!("address\0{}", counted_address(from)));
            allowances.push((address, AllowanceLimits::ADDRESS));
        }
        Self {
            codes: name(format!("sign-in\0{}\0{account}", what.sign_in)),
            allowances,
        }
    }
}

impl LoadedOtp {
    pub(crate) async fn read(store: &Store, place: &OtpPlace) -> Result<Self> {
        let (codes, codes_were) = found(store, CODES, &place.codes).await?;
        let mut loaded = Self {
            codes,
            codes_were,
            meters: Vec::with_capacity(place.allowances.len()),
            meters_were: Vec::with_capacity(place.allowances.len()),
        };
        for (id, limits) in &place.allowances {
            let (used, were): (OtpAllowance, Expect) = found(store, ALLOWANCE, id).await?;
            let limits = *limits;
            loaded.meters.push(OtpMeter { used, limits });
            loaded.meters_were.push(were);
        }
        Ok(loaded)
    }

    /// The batch that writes the records, if they are still as they were read. The codes are kept until then.
    pub(crate) fn written(&self, place: &OtpPlace, until: UnixTime) -> Result<Batch> {
        let batch = Batch::new(TenantId::instance());
        let put = Put::new(CODES, &place.codes, encode(&self.codes)?);
        let batch = batch
            .expect(CODES, &place.codes, self.codes_were)
            .put(put.expires(until));
        self.counted(place, batch)
    }

    /// Adds the allowances to a batch.
    pub(crate) fn counted(&self, place: &OtpPlace, mut batch: Batch) -> Result<Batch> {
        let meters = self.meters.iter().zip(&self.meters_were);
        for ((id, limits), (meter, were)) in place.allowances.iter().zip(meters) {
            let put = Put::new(ALLOWANCE, id, encode(&meter.used)?);
            let put = put.expires(meter.used.ends(limits));
            batch = batch.expect(ALLOWANCE, id, *were).put(put);
        }
        Ok(batch)
    }
}

async fn found<T: Default + DeserializeOwned>(
    store: &Store,
    kind: &str,
    id: &str,
) -> Result<(T, Expect)> {
    match store.read(&TenantId::instance(), kind, id).await? {
        Some(record) => Ok((decode(&record.value)?, Expect::Version(record.version))),
        None => Ok((T::default(), Expect::Absent)),
    }
}

/// The network around an address.
pub(crate) fn neighbourhood(from: IpAddr) -> IpAddr {
    match counted_address(from) {
        IpAddr::V4(address) => {
            let [a, b, c, _] = address.octets();
            Ipv4Addr::new(a, b, c, 0).into()
        }
        v6 => v6,
    }
}
