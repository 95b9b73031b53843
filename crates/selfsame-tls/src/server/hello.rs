//! The server's reaction to a hello: chooses suite and group, or sends a HelloRetryRequest (RFC 8446 §4.1, §4.2.8).

use std::sync::Arc;

use selfsame_crypto::ctx::Ctx;

use super::early::{Hello, to_skip};
use super::flight::{self, ClientOffer, Flight};
use super::resume::{Issuing, Offering, Resumed};
use super::{ServerState, ServerStep, UNEXPECTED};
use crate::alert::{Alert, Refusal};
use crate::codec::{ClientHello, Extension, Extensions, KeyShare, Message, ServerHello};
use crate::config::ServerConfig;
use crate::core::Core;
use crate::handshake::{HandshakeNext, HandshakeProgress, TLS_1_3};
use crate::named::Group;
use crate::profile::Profile;
use crate::provider::{Cipher, KeyExchange};
use crate::resumption::MAX_TICKETS;
use crate::schedule::Early;
use crate::transcript::{Transcript, Unhashed};

/// The purpose of each ticket's randomness.
const TICKETS: [&str; MAX_TICKETS] = [
    "tls ticket 0",
    "tls ticket 1",
    "tls ticket 2",
    "tls ticket 3",
];

#[derive(Debug)]
pub(crate) struct AwaitClientHello {
    config: Arc<ServerConfig>,
    random: [u8; 32],
    /// Randomness for tickets.
    tickets: [[u8; 16]; MAX_TICKETS],
    retried: Option<Retried>,
}

/// What a HelloRetryRequest asked for.
#[derive(Debug)]
struct Retried {
    hello: ClientHello,
    transcript: Transcript,
    group: Group,
}

impl AwaitClientHello {
    pub(super) fn start(config: &Arc<ServerConfig>, ctx: &Ctx) -> Self {
        Self {
            config: Arc::clone(config),
            random: ctx.random("tls server random"),
            tickets: match &config.tickets {
                Some(_) => TICKETS.map(|label| ctx.random(label)),
                None => [[0; 16]; MAX_TICKETS],
            },
            retried: None,
        }
    }

    /// Whether no hello has arrived yet.
    pub(super) fn is_first(&self) -> bool {
        self.retried.is_none()
    }

    pub(super) fn receive(self, core: &mut Core, message: Message, raw: &[u8]) -> ServerStep {
        let Message::ClientHello(hello) = message else {
            return Err(UNEXPECTED);
        };
        check(&hello)?;
        let cipher = self.cipher(&hello)?;
        let shares = shares(&hello)?;
        let is_again = self.retried.is_some();
        let Some(group) = self.group(&hello, shares)? else {
            return self.retry(core, hello, cipher, raw);
        };
        let offering = Offering {
            config: &self.config,
            hello: &hello,
            raw,
            cipher,
            before: self.retried.as_ref().map(|before| &before.transcript),
        };
        let resumed = offering.resumed(core)?;
        if resumed.is_none() {
            flight::check(&self.config, core, &hello)?;
        }
        if is_again && hello.extensions.has_early_data() {
            return Err(Refusal::illegal("early data after HelloRetryRequest"));
        }
        let early = Hello {
            hello: &hello,
            resumed: resumed.as_ref(),
            cipher,
            is_again,
        };
        let early = early.early(&self.config, core);
        core.records.skip_early(match early {
            Some(_) => 0,
            None => to_skip(&self.config, &hello, core),
        });
        let transcript = match self.retried {
            Some(before) => {
                let mut transcript = before.transcript;
                transcript.add(raw);
                transcript
            }
            None => {
                let mut transcript = Unhashed::default();
                transcript.add(raw);
                transcript.start(cipher)
            }
        };
        let mut shares = shares.iter();
        let share = shares.find(|share| share.group == group);
        let share = share.ok_or(Refusal::illegal("no key share of the requested group"))?;
        let answer = HelloAgreement {
            config: self.config,
            random: self.random,
            tickets: self.tickets,
            transcript,
            resumed,
            early,
        };
        answer.send(core, &hello, cipher, share)
    }

    /// The group to use; `None` if the client has to send another share.
    fn group(&self, hello: &ClientHello, shares: &[KeyShare]) -> Result<Option<Group>, Refusal> {
        match &self.retried {
            None => Ok(self.group_with_share(hello, shares)),
            Some(before) => {
                check_again(before, hello, shares, self.config.common.profile)?;
                Ok(Some(before.group))
            }
        }
    }

    /// The first of our cipher suites that the client supports.
    fn cipher(&self, hello: &ClientHello) -> Result<Cipher, Refusal> {
        let mut ours = self.config.common.suites.iter();
        let chosen = ours.find(|suite| hello.suites.contains(suite));
        let cipher = chosen.and_then(|suite| Cipher::new(*suite));
        cipher.ok_or(Refusal::new(
            Alert::HandshakeFailure,
            "no cipher suite in common",
        ))
    }

    /// The best of our groups for which the client sent a share.
    fn group_with_share(&self, hello: &ClientHello, shares: &[KeyShare]) -> Option<Group> {
        self.best_group(|ours| {
            hello.extensions.groups().contains(&ours)
                && shares.iter().any(|share| share.group == ours)
        })
    }

    /// The best of our groups: hybrids with ML-KEM first, since they keep what is recorded today secret from future
    /// quantum computers; otherwise the first.
    fn best_group(&self, is_common: impl Fn(Group) -> bool) -> Option<Group> {
        let ours = self.config.common.groups.iter().copied();
        let common: Vec<Group> = ours.filter(|ours| is_common(*ours)).collect();
        let hybrid = common.iter().find(|group| group.is_post_quantum());
        hybrid.or(common.first()).copied()
    }

    /// Asks for a share of the best of our groups that the client supports.
    fn retry(self, core: &mut Core, hello: ClientHello, cipher: Cipher, raw: &[u8]) -> ServerStep {
        let group = self.best_group(|ours| hello.extensions.groups().contains(&ours));
        let group = group.ok_or(Refusal::new(Alert::HandshakeFailure, "no group in common"))?;
        let extensions = Extensions(vec![
            Extension::Version(TLS_1_3),
            Extension::RetryGroup(group),
        ]);
        let mut retry = ServerHello::new(None, cipher.suite(), extensions);
        retry.session_id.clone_from(&hello.session_id);
        let mut transcript = Unhashed::default();
        transcript.add(raw);
        let mut transcript = transcript.start(cipher);
        transcript.retry();
        transcript.add(core.queue(&Message::ServerHello(retry))?);
        core.flush()?;
        if !hello.session_id.is_empty() {
            core.send_ccs()?;
        }
        core.check_between_messages()?;
        // The client sent early data before it knew of the retry (§4.2.10).
        let skipped = to_skip(&self.config, &hello, core);
        core.records.skip_early(skipped);
        Ok(HandshakeNext::State(ServerState::ClientHello(Box::new(
            Self {
                retried: Some(Retried {
                    hello,
                    transcript,
                    group,
                }),
                ..self
            },
        ))))
    }
}

/// What both hellos agreed on.
struct HelloAgreement {
    config: Arc<ServerConfig>,
    random: [u8; 32],
    tickets: [[u8; 16]; MAX_TICKETS],
    transcript: Transcript,
    resumed: Option<Resumed>,
    /// Bytes of early data that are accepted.
    early: Option<usize>,
}

impl HelloAgreement {
    /// Sends ServerHello, switches to the handshake keys, and sends the flight.
    fn send(
        mut self,
        core: &mut Core,
        hello: &ClientHello,
        cipher: Cipher,
        share: &KeyShare,
    ) -> ServerStep {
        let group = share.group;
        let (key, shared) = KeyExchange::answer(group, &share.key)?;
        let mut extensions = Extensions(vec![
            Extension::Version(TLS_1_3),
            Extension::KeyShare(KeyShare { group, key }),
        ]);
        if let Some(resumed) = &self.resumed {
            extensions.0.push(Extension::PreSharedKey(resumed.place));
        }
        let mut answer = ServerHello::new(Some(self.random), cipher.suite(), extensions);
        answer.session_id.clone_from(&hello.session_id);
        let heard = self.early.map(|_| self.transcript.hash());
        self.transcript
            .add(core.queue(&Message::ServerHello(answer))?);
        core.flush()?;
        if !hello.session_id.is_empty() {
            core.send_ccs()?;
        }
        let hash = self.transcript.hash();
        let resumed = self.resumed.as_ref();
        let secret = resumed.map(|resumed| &resumed.ticketed.secret);
        let before = Early::new(cipher, secret);
        let heard = heard.map(|heard| before.traffic(heard.as_ref()));
        let traffic = heard.transpose()?;
        let schedule = before.handshake(shared.bytes(), hash.as_ref())?;
        core.set_read(traffic.unwrap_or_else(|| schedule.client.clone()))?;
        core.early.is_taken = self.early.is_some();
        core.early.room = self.early.unwrap_or(0);
        core.set_write(schedule.server.clone())?;
        let progress = HandshakeProgress::new(cipher, group, self.transcript, schedule);
        let issuing = self.config.tickets.as_ref().filter(|_| {
            // A client without psk_key_exchange_modes gets no ticket (§4.2.9).
            hello.extensions.resumes_with_exchange() == Some(true)
        });
        let issuing = match issuing {
            None => None,
            Some(keys) => Some(Issuing {
                keys: keys.clone(),
                early: self.config.early.as_ref().map_or(0, |early| early.most),
                random: self.tickets,
                wishes: hello.extensions.wishes(core.profile)?,
                epoch: match resumed {
                    Some(resumed) => resumed.ticketed.epoch,
                    None => self.config.common.epoch(),
                },
            }),
        };
        let flight = Flight::new(self.config, progress, issuing);
        match self.resumed {
            Some(resumed) => flight.resume(core, resumed.ticketed),
            None => flight.send(core, &ClientOffer::new(hello, core.profile)?),
        }
    }
}

/// Checks that a TLS 1.3 hello is complete (§4.1.2, §9.2).
fn check(hello: &ClientHello) -> Result<(), Refusal> {
    let versions = hello.extensions.find(|extension| match extension {
        Extension::Versions(versions) => Some(versions),
        _ => None,
    });
    if !versions.is_some_and(|versions| versions.contains(&TLS_1_3)) {
        let reason = "the client does not speak TLS 1.3";
        return Err(Refusal::new(Alert::ProtocolVersion, reason));
    }
    if hello.legacy_version != 0x0303 || hello.compression != [0] {
        return Err(Refusal::illegal(
            "a hello of TLS 1.3 with another legacy field",
        ));
    }
    let resumes = hello.extensions.pre_shared_keys().is_some();
    if hello.extensions.has_early_data() && !resumes {
        return Err(Refusal::illegal("early data without a ticket"));
    }
    // A hello that resumes need not have signature algorithms (§9.2).
    let has_schemes = hello.extensions.schemes().is_some() || resumes;
    if !has_schemes || hello.extensions.groups().is_empty() {
        let reason = "a hello without groups or signature algorithms";
        return Err(Refusal::new(Alert::MissingExtension, reason));
    }
    Ok(())
}

/// The client's shares: each for a group that it names, without duplicates (§4.2.8).
fn shares(hello: &ClientHello) -> Result<&[KeyShare], Refusal> {
    let shares = hello.extensions.key_shares().ok_or(Refusal::new(
        Alert::MissingExtension,
        "a hello without key shares",
    ))?;
    let mut seen: Vec<Group> = Vec::new();
    for share in shares {
        if seen.contains(&share.group) || !hello.extensions.groups().contains(&share.group) {
            return Err(Refusal::illegal(
                "a key share is repeated or of a group that is not named",
            ));
        }
        seen.push(share.group);
    }
    Ok(shares)
}

/// Checks that the second hello differs from the first only in what was asked for (§4.1.2).
fn check_again(
    before: &Retried,
    hello: &ClientHello,
    shares: &[KeyShare],
    profile: &Profile,
) -> Result<(), Refusal> {
    let may_change = |extension: &&Extension| {
        !matches!(
            extension,
            Extension::KeyShares(_)
                | Extension::Cookie(_)
                | Extension::PreSharedKeys(_)
                | Extension::EarlyData
                // padding (§4.1.2).
                | Extension::Other { number: 21, .. }
        )
    };
    // Extensions may be in any order (§4.2), and some clients shuffle them for each hello.
    let fixed = |hello: &ClientHello| {
        let extensions = hello.extensions.0.iter().filter(may_change).cloned();
        let mut extensions: Vec<Extension> = extensions.collect();
        extensions.sort_by_key(|extension| extension.number(profile));
        ClientHello {
            extensions: Extensions(extensions),
            ..hello.clone()
        }
    };
    let [share] = shares else {
        return Err(Refusal::illegal("not exactly the requested key share"));
    };
    let tickets = |hello: &ClientHello| -> Vec<Vec<u8>> {
        let offered = hello.extensions.pre_shared_keys();
        let identities = offered.map_or(&[][..], |offered| &offered.identities);
        identities.iter().map(|one| one.ticket.clone()).collect()
    };
    let first = tickets(&before.hello);
    if tickets(hello).iter().any(|ticket| !first.contains(ticket)) {
        return Err(Refusal::illegal("a ticket that was not in the first hello"));
    }
    match share.group == before.group && fixed(&before.hello) == fixed(hello) {
        true => Ok(()),
        false => Err(Refusal::illegal("the second hello differs from the first")),
    }
}
