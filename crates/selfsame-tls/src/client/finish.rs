//! The client's last flight: its identity if the server asked for it, and Finished.

use std::sync::Arc;

use super::{ClientStep, RequestedCertificate};
use crate::alert::{Alert, Refusal};
use crate::codec::Message;
use crate::config::ClientConfig;
use crate::core::Core;
use crate::handshake::{
    Done, HandshakeNext, HandshakeProgress, Selected, send_certificate, send_finished, send_ssi,
};
use crate::identity::{Peer, Side};
use crate::resumption::Collector;
use crate::schedule::Application;

/// What the flight depends on.
pub(super) struct Flight<'a> {
    pub(super) config: &'a Arc<ClientConfig>,
    pub(super) request: Option<&'a RequestedCertificate>,
    /// The status epoch in which the server was proved.
    pub(super) epoch: u64,
}

impl Flight<'_> {
    /// Sends the flight. From then on, the application keys are used.
    pub(super) fn send(
        self,
        core: &mut Core,
        mut progress: HandshakeProgress,
        application: Application,
        peer: Peer,
    ) -> ClientStep {
        if core.early.is_taken {
            // EndOfEarlyData is protected with the early data key (§4.5).
            core.early.room = 0;
            progress.queue(core, &Message::EndOfEarlyData)?;
            core.set_write(progress.schedule.client.clone())?;
        }
        let own = &self.config.common.identities;
        match self.request {
            None => {}
            Some(RequestedCertificate::Certificate {
                schemes,
                reads_crls,
            }) => {
                // A client without a certificate sends an empty Certificate (RFC 8446 §4.4.2).
                let own = own.certificate.as_ref();
                let fitting = own.and_then(|own| Selected::new(own, &own.key, schemes));
                send_certificate(core, &mut progress, fitting, Side::Client, *reads_crls)?;
            }
            Some(RequestedCertificate::Ssi { asked, schemes }) => {
                let own = own.ssi.as_ref();
                let own = own.filter(|own| own.fits(asked, core.profile));
                let fitting = own.and_then(|own| Selected::new(own, &own.key, schemes));
                match fitting {
                    Some(fitting) => {
                        send_ssi(core, &mut progress, fitting, asked, Side::Client)?;
                    }
                    None if core.profile.certificate_type().is_some() => {
                        send_certificate(core, &mut progress, None, Side::Client, false)?;
                    }
                    // The paper has no message to decline.
                    None => {
                        let reason = "no own identity that the server accepts";
                        return Err(Refusal::new(Alert::HandshakeFailure, reason));
                    }
                }
            }
        }
        let traffic = progress.schedule.client.clone();
        send_finished(core, &mut progress, &traffic)?;
        core.set_write(application.client)?;
        let tickets = match &self.config.sessions {
            None => None,
            Some(sessions) => Some(Collector {
                sessions: sessions.clone(),
                key: self.config.digest,
                secret: application
                    .master
                    .resumption(progress.transcript.hash().as_ref())?,
                epoch: self.epoch,
                verified_at: peer.resumed.unwrap_or(core.now),
                protocol: progress.protocol.clone(),
            }),
        };
        Ok(HandshakeNext::Done(Box::new(Done {
            exporter: application.exporter,
            peer,
            protocol: progress.protocol,
            cipher: progress.cipher,
            group: progress.group,
            tickets,
        })))
    }
}
