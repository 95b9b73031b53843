//! The steps.

use std::collections::BTreeMap;

use selfsame_aries::advance::{Move, Problem, ProblemKind};
use selfsame_aries::wire::fresh_id;
use selfsame_crypto::ctx::Ctx;
use selfsame_registry::transaction::AuthoredTransaction;

use super::attachment::{authored_of, authored_text, endorsed_of};
use super::messages::{
    AttachedTransaction, EndorsedResponse, RefusedResponse, SignatureRequest, SignatureResponse,
    ThreadNote, Timing, TransactionMessage, TransactionRequest,
};
use super::record::{MessageKind, TransactionRecord, TransactionRole, TransactionState};

const CONTEXT: &str = "did:sov";
const METHOD: &str = "add-signature";
const SIGNATURE_TYPE: &str = "default";
/// The goals of the protocol.
const ENDORSE: &str = "aries.transaction.endorse";
const REFUSE: &str = "aries.transaction.refuse";
const WRITE: &str = "aries.transaction.ledger.write";

/// A transaction that its author has signed.
#[derive(Clone, Copy, Debug)]
pub struct AuthoredTerms<'a> {
    /// The transaction.
    pub transaction: &'a AuthoredTransaction,
    /// The connection to its endorser.
    pub connection_id: &'a str,
}

/// What a transaction is given.
#[derive(Clone, Debug, PartialEq)]
pub enum TransactionInput {
    /// The author asks for the endorsement.
    Request {
        /// Until when, for people.
        expires_time: Option<String>,
    },
    /// The endorser has signed.
    Endorse {
        /// The endorser.
        endorser_did: String,
        /// The text of the endorsed transaction.
        text: String,
    },
    /// The endorser does not sign.
    Refuse,
    /// The author takes its request back.
    Cancel,
    /// The author asks again.
    Resend,
    /// The registry has it.
    Written,
    /// A message came.
    Received(TransactionMessage),
}

/// What a step gives.
#[derive(Clone, Debug, PartialEq)]
pub struct SteppedTransaction {
    /// The record as it is from now on.
    pub record: TransactionRecord,
    /// What is sent to the other side.
    pub send: Option<TransactionMessage>,
}

/// The author's record of a transaction that is to be endorsed.
///
/// # Errors
/// If it does something that is not endorsed.
pub fn authored(terms: AuthoredTerms<'_>, ctx: &Ctx) -> Result<TransactionRecord, Problem> {
    let text = authored_text(terms.transaction)?;
    Ok(TransactionRecord {
        state: TransactionState::Created,
        role: TransactionRole::Author,
        connection_id: terms.connection_id.to_owned(),
        thread_id: None,
        attached: AttachedTransaction::new(fresh_id("attachment", ctx), text),
        endorsed: None,
        signature_request: None,
        signature_response: None,
        expires_time: None,
        created_at: ctx.now(),
        updated_at: ctx.now(),
    })
}

/// The endorser's record of a request.
///
/// # Errors
/// If it asks for something else than an endorsement.
pub fn received(
    request: &TransactionRequest,
    connection_id: &str,
    ctx: &Ctx,
) -> Result<TransactionRecord, Problem> {
    let goal = request.signature_request.as_ref();
    let goal = goal.and_then(|asked| asked.signer_goal_code.as_deref());
    if goal.is_some_and(|goal| goal != ENDORSE) || request.endorser_write_txn == Some(true) {
        return Err(content(
            "goal-unknown",
            "an endorser signs, and writes nothing itself",
        ));
    }
    authored_of(&request.messages_attach.data.json)?;
    let timing = request.timing.clone().unwrap_or_default();
    Ok(TransactionRecord {
        state: TransactionState::RequestReceived,
        role: TransactionRole::Endorser,
        connection_id: connection_id.to_owned(),
        thread_id: Some(request.transaction_id.clone()),
        attached: request.messages_attach.clone(),
        endorsed: None,
        signature_request: request.signature_request.clone(),
        signature_response: None,
        expires_time: timing.expires_time,
        created_at: ctx.now(),
        updated_at: ctx.now(),
    })
}

/// Takes a step of the transaction with this identifier.
///
/// # Errors
/// If the state does not allow it, or the endorser has signed another transaction.
pub fn step(
    record: &TransactionRecord,
    id: &str,
    input: &TransactionInput,
    ctx: &Ctx,
) -> Result<SteppedTransaction, Problem> {
    let mut next = record.clone();
    let event = event(input)?;
    let after = record.state.after(record.role, event);
    next.state = after.ok_or_else(Problem::wrong_state)?;
    next.updated_at = ctx.now();
    let send = match input {
        TransactionInput::Request { expires_time } => {
            next.expires_time.clone_from(expires_time);
            Some(request(&mut next, id))
        }
        TransactionInput::Endorse { endorser_did, text } => {
            next.endorsed = Some(text.clone());
            Some(endorse(&mut next, id, endorser_did))
        }
        TransactionInput::Refuse => Some(refuse(&mut next, id)),
        TransactionInput::Cancel => Some(TransactionMessage::Cancel(note(id, next.state))),
        TransactionInput::Resend => Some(TransactionMessage::Resend(note(
            id,
            TransactionState::ResentReceived,
        ))),
        TransactionInput::Written => Some(TransactionMessage::Ack(ThreadNote {
            status: Some("OK".to_owned()),
            state: None,
            ..note(id, next.state)
        })),
        TransactionInput::Received(message) => {
            hear(&mut next, message)?;
            None
        }
    };
    Ok(SteppedTransaction { record: next, send })
}

fn event(input: &TransactionInput) -> Result<Move<MessageKind>, Problem> {
    Ok(match input {
        TransactionInput::Request { .. } => Move::Sends(MessageKind::Request),
        TransactionInput::Endorse { .. } => Move::Sends(MessageKind::Endorse),
        TransactionInput::Refuse => Move::Sends(MessageKind::Refuse),
        TransactionInput::Cancel => Move::Sends(MessageKind::Cancel),
        TransactionInput::Resend => Move::Sends(MessageKind::Resend),
        TransactionInput::Written => Move::Sends(MessageKind::Ack),
        TransactionInput::Received(message) => Move::Receives(match message {
            TransactionMessage::Request(_) => MessageKind::Request,
            TransactionMessage::Endorse(_) => MessageKind::Endorse,
            TransactionMessage::Refuse(_) => MessageKind::Refuse,
            TransactionMessage::Cancel(_) => MessageKind::Cancel,
            TransactionMessage::Resend(_) => MessageKind::Resend,
            TransactionMessage::Ack(_) => MessageKind::Ack,
            TransactionMessage::Job(_) => return Err(Problem::wrong_state()),
        }),
    })
}

fn request(record: &mut TransactionRecord, id: &str) -> TransactionMessage {
    let asked = SignatureRequest {
        context: Some(CONTEXT.to_owned()),
        method: Some(METHOD.to_owned()),
        signature_type: Some(SIGNATURE_TYPE.to_owned()),
        signer_goal_code: Some(ENDORSE.to_owned()),
        author_goal_code: Some(WRITE.to_owned()),
    };
    record.signature_request = Some(asked.clone());
    TransactionMessage::Request(Box::new(TransactionRequest {
        transaction_id: id.to_owned(),
        signature_request: Some(asked),
        timing: Some(Timing {
            expires_time: record.expires_time.clone(),
        }),
        messages_attach: record.attached.clone(),
        endorser_write_txn: Some(false),
    }))
}

fn endorse(record: &mut TransactionRecord, id: &str, endorser: &str) -> TransactionMessage {
    let text = record.endorsed.clone().unwrap_or_default();
    let signed = BTreeMap::from([(endorser.to_owned(), text)]);
    let response = SignatureResponse {
        signer_goal_code: Some(ENDORSE.to_owned()),
        signature_type: Some(SIGNATURE_TYPE.to_owned()),
        signature: Some(signed),
        ..refusal(record)
    };
    record.signature_response = Some(response.clone());
    TransactionMessage::Endorse(Box::new(EndorsedResponse {
        transaction_id: record.thread_id.clone().unwrap_or_default(),
        thread_id: Some(id.to_owned()),
        signature_response: response,
        state: Some(record.state.name().to_owned()),
        endorser_did: endorser.to_owned(),
    }))
}

fn refuse(record: &mut TransactionRecord, id: &str) -> TransactionMessage {
    let response = refusal(record);
    record.signature_response = Some(response.clone());
    TransactionMessage::Refuse(Box::new(RefusedResponse {
        transaction_id: record.thread_id.clone().unwrap_or_default(),
        thread_id: Some(id.to_owned()),
        signature_response: Some(response),
        state: Some(record.state.name().to_owned()),
    }))
}

fn refusal(record: &TransactionRecord) -> SignatureResponse {
    SignatureResponse {
        message_id: Some(record.attached.id.clone()),
        context: Some(CONTEXT.to_owned()),
        method: Some(METHOD.to_owned()),
        signer_goal_code: Some(REFUSE.to_owned()),
        signature_type: None,
        signature: None,
    }
}

fn note(id: &str, state: TransactionState) -> ThreadNote {
    ThreadNote {
        thread_id: id.to_owned(),
        state: Some(state.name().to_owned()),
        status: None,
    }
}

fn hear(record: &mut TransactionRecord, message: &TransactionMessage) -> Result<(), Problem> {
    match message {
        TransactionMessage::Endorse(response) => {
            let signed = response.signature_response.signature.as_ref();
            let text = signed.and_then(|signed| signed.get(&response.endorser_did));
            let missing = || content("signature-missing", "the answer has no signature");
            let text = text.ok_or_else(missing)?;
            // What was asked for is in the record, so nothing else comes back as endorsed.
            let asked = authored_of(&record.attached.data.json)?;
            if endorsed_of(text)?.hash() != asked.hash() {
                return Err(content(
                    "transaction-differs",
                    "another transaction was endorsed than the one that was asked for",
                ));
            }
            record.endorsed = Some(text.clone());
            record.signature_response = Some(response.signature_response.clone());
            record.thread_id.clone_from(&response.thread_id);
        }
        TransactionMessage::Refuse(response) => {
            record
                .signature_response
                .clone_from(&response.signature_response);
            record.thread_id.clone_from(&response.thread_id);
        }
        _ => {}
    }
    Ok(())
}

fn content(code: &'static str, explain: &'static str) -> Problem {
    Problem::new(ProblemKind::Content, code, explain)
}
