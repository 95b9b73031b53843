//! The transaction endorser protocol: its table of states, its messages and its texts.

use selfsame_aries::advance::Move;
use selfsame_aries::wire::{Incoming, Vocabulary as _};
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PublicKey};
use selfsame_did::selfsame::Network;
use selfsame_didcomm::message::{MessageType, Semver};
use selfsame_didcomm::{Message, Version};
use selfsame_endorsement::protocol::{
    AuthoredTerms, MessageKind, PROTOCOL, TransactionInput, TransactionMessage, TransactionRecord,
    TransactionRole, TransactionState as State, authored, authored_of, authored_text,
    endorsed_text, received, step,
};
use selfsame_registry::transaction::{AuthoredTransaction, Body, Signature};
use selfsame_registry::{Identifier, Operation, UnsignedTransaction};
use serde_json::{Value, json};

const KINDS: [MessageKind; 6] = [
    MessageKind::Request,
    MessageKind::Endorse,
    MessageKind::Refuse,
    MessageKind::Cancel,
    MessageKind::Resend,
    MessageKind::Ack,
];

fn ctx(seed: u8) -> Ctx {
    Ctx::new(UnixTime(1_700_000_000), [seed; 32])
}

/// A schema that is to be endorsed.
fn transaction(nonce: u64) -> AuthoredTransaction {
    let network = Network::of_genesis(b"a network");
    let id = |seed: u8| {
        let key = PublicKey::from_raw(KeyType::Ed25519, &[seed; 32]).unwrap();
        Identifier::of_key(&key).unwrap()
    };
    let json = json!({
        "issuerId": "did:selfsame:x:y", "name": "vaccination", "version": "1.0", "attrNames": ["a"],
    });
    let operation = Operation::Schema {
        json: json.to_string(),
    };
    let body = Body {
        endorser: Some(id(2)),
        ..Body::new(&network, id(1), nonce, vec![operation])
    };
    let signature = Signature::new("key-1", &[1; 64]).unwrap();
    let unsigned = UnsignedTransaction::of(body);
    unsigned.authored(vec![signature]).unwrap()
}

/// The author's record of it.
fn begun(transaction: &AuthoredTransaction) -> TransactionRecord {
    let terms = AuthoredTerms {
        transaction,
        connection_id: "to the endorser",
    };
    authored(terms, &ctx(1)).unwrap()
}

fn endorsement(transaction: AuthoredTransaction) -> TransactionInput {
    let signature = Signature::new("key-1", &[2; 64]).unwrap();
    let endorsed = transaction.endorsed(vec![signature]).unwrap();
    TransactionInput::Endorse {
        endorser_did: "did:selfsame:x:endorser".to_owned(),
        text: endorsed_text(&endorsed).unwrap(),
    }
}

/// The message as the other side reads it.
fn sent(message: &TransactionMessage) -> TransactionMessage {
    let kind = MessageType::new(PROTOCOL.name, Semver::new(1, 0), message.name());
    let mut written = Message::new(kind, "an-identifier".to_owned());
    message.write(&mut written);
    let plaintext = written.write(Version::V1);
    let read = Message::read(&plaintext, Version::V1).unwrap();
    let read = Incoming::<TransactionMessage>::read(&read).unwrap().content;
    assert_eq!(read, *message);
    read
}

/// Both sides after the author has asked.
fn asked(transaction: &AuthoredTransaction) -> [TransactionRecord; 2] {
    let request = TransactionInput::Request { expires_time: None };
    let author = step(&begun(transaction), "author's", &request, &ctx(2)).unwrap();
    let TransactionMessage::Request(request) = sent(&author.send.unwrap()) else {
        panic!("a request");
    };
    let endorser = received(&request, "to the author", &ctx(3)).unwrap();
    [author.record, endorser]
}

/// The record after it was given an input.
fn after(record: &TransactionRecord, id: &str, input: &TransactionInput) -> TransactionRecord {
    step(record, id, input, &ctx(4)).unwrap().record
}

/// Both records after one side did something.
fn crossed(
    acting: &TransactionRecord,
    hearing: &TransactionRecord,
    act: &TransactionInput,
) -> [TransactionRecord; 2] {
    let id = match acting.role {
        TransactionRole::Author => "author's",
        TransactionRole::Endorser => "endorser's",
    };
    let stepped = step(acting, id, act, &ctx(5)).unwrap();
    let heard = TransactionInput::Received(sent(&stepped.send.unwrap()));
    [stepped.record, after(hearing, "the other's", &heard)]
}

/// A state, what happens in it, and the state after that.
type TableLine = (State, Move<MessageKind>, State);

fn moves_of_author() -> [TableLine; 11] {
    [
        (
            State::Created,
            Move::Sends(MessageKind::Request),
            State::RequestSent,
        ),
        (
            State::RequestSent,
            Move::Receives(MessageKind::Endorse),
            State::Endorsed,
        ),
        (
            State::RequestSent,
            Move::Receives(MessageKind::Refuse),
            State::Refused,
        ),
        (
            State::RequestSent,
            Move::Sends(MessageKind::Cancel),
            State::Cancelled,
        ),
        (
            State::Resent,
            Move::Receives(MessageKind::Endorse),
            State::Endorsed,
        ),
        (
            State::Resent,
            Move::Receives(MessageKind::Refuse),
            State::Refused,
        ),
        (
            State::Resent,
            Move::Sends(MessageKind::Cancel),
            State::Cancelled,
        ),
        (
            State::Refused,
            Move::Sends(MessageKind::Resend),
            State::Resent,
        ),
        (
            State::Cancelled,
            Move::Sends(MessageKind::Resend),
            State::Resent,
        ),
        (State::Endorsed, Move::Sends(MessageKind::Ack), State::Acked),
        (
            State::Endorsed,
            Move::Sends(MessageKind::Cancel),
            State::Cancelled,
        ),
    ]
}

fn moves_of_endorser() -> [TableLine; 11] {
    [
        (
            State::RequestReceived,
            Move::Sends(MessageKind::Endorse),
            State::Endorsed,
        ),
        (
            State::RequestReceived,
            Move::Sends(MessageKind::Refuse),
            State::Refused,
        ),
        (
            State::RequestReceived,
            Move::Receives(MessageKind::Cancel),
            State::Cancelled,
        ),
        (
            State::ResentReceived,
            Move::Sends(MessageKind::Endorse),
            State::Endorsed,
        ),
        (
            State::ResentReceived,
            Move::Sends(MessageKind::Refuse),
            State::Refused,
        ),
        (
            State::ResentReceived,
            Move::Receives(MessageKind::Cancel),
            State::Cancelled,
        ),
        (
            State::Endorsed,
            Move::Receives(MessageKind::Cancel),
            State::Cancelled,
        ),
        (
            State::Refused,
            Move::Receives(MessageKind::Cancel),
            State::Cancelled,
        ),
        (
            State::Refused,
            Move::Receives(MessageKind::Resend),
            State::ResentReceived,
        ),
        (
            State::Cancelled,
            Move::Receives(MessageKind::Resend),
            State::ResentReceived,
        ),
        (
            State::Endorsed,
            Move::Receives(MessageKind::Ack),
            State::Acked,
        ),
    ]
}

#[test]
fn each_state_allows_what_its_side_may_send_and_hear_and_nothing_else() {
    for (role, table) in [
        (TransactionRole::Author, moves_of_author()),
        (TransactionRole::Endorser, moves_of_endorser()),
    ] {
        for state in State::ALL {
            for event in KINDS
                .into_iter()
                .flat_map(|kind| [Move::Sends(kind), Move::Receives(kind)])
            {
                let line = table.iter().find(|line| (line.0, line.1) == (state, event));
                let expected = line.map(|line| line.2);
                assert_eq!(
                    state.after(role, event),
                    expected,
                    "{role:?} {state:?} {event:?}"
                );
            }
        }
    }
}

#[test]
fn an_endorsed_transaction_comes_back_and_is_acknowledged() {
    let transaction = transaction(1);
    let [author, endorser] = asked(&transaction);
    assert_eq!(endorser.thread_id.as_deref(), Some("author's"));
    let [endorser, author] = crossed(&endorser, &author, &endorsement(transaction));
    assert_eq!(author.state, State::Endorsed);
    assert_eq!(author.thread_id.as_deref(), Some("endorser's"));
    assert!(author.endorsed.is_some());
    let [author, endorser] = crossed(&author, &endorser, &TransactionInput::Written);
    assert_eq!(author.state, State::Acked);
    assert_eq!(endorser.state, State::Acked);
}

#[test]
fn a_refused_or_cancelled_transaction_is_asked_for_again() {
    let transaction = transaction(1);
    let [author, endorser] = asked(&transaction);
    let [endorser, author] = crossed(&endorser, &author, &TransactionInput::Refuse);
    let [author, endorser] = crossed(&author, &endorser, &TransactionInput::Resend);
    let [author, endorser] = crossed(&author, &endorser, &TransactionInput::Cancel);
    let [author, endorser] = crossed(&author, &endorser, &TransactionInput::Resend);
    let [_, author] = crossed(&endorser, &author, &endorsement(transaction));
    assert_eq!(author.state, State::Endorsed);
}

#[test]
fn another_transaction_than_the_one_asked_for_is_not_taken_back() {
    let [author, endorser] = asked(&transaction(1));
    let stepped = step(
        &endorser,
        "endorser's",
        &endorsement(transaction(2)),
        &ctx(5),
    )
    .unwrap();
    let heard = TransactionInput::Received(stepped.send.unwrap());
    let refused = step(&author, "author's", &heard, &ctx(6)).unwrap_err();
    assert_eq!(refused.code, "transaction-differs");
}

#[test]
fn a_text_that_says_something_else_than_its_bytes_is_refused() {
    let text = authored_text(&transaction(1)).unwrap();
    assert_eq!(authored_of(&text).unwrap(), transaction(1));
    let mut lying: Value = serde_json::from_str(&text).unwrap();
    lying["operations"][0]["data"]["name"] = "harmless".into();
    let refused = authored_of(&lying.to_string()).unwrap_err();
    assert_eq!(refused.code, "text-differs");
    assert!(authored_of("{}").is_err());
    assert!(authored_of("no JSON").is_err());
}

#[test]
fn an_endorser_writes_nothing_and_signs_what_is_published_alone() {
    let request = TransactionInput::Request { expires_time: None };
    let author = step(&begun(&transaction(1)), "author's", &request, &ctx(2)).unwrap();
    let Some(TransactionMessage::Request(request)) = author.send else {
        panic!("a request");
    };
    let mut writing = request.clone();
    writing.endorser_write_txn = Some(true);
    assert!(received(&writing, "to the author", &ctx(3)).is_err());
    let mut other = request;
    let goal = other.signature_request.as_mut().unwrap();
    goal.signer_goal_code = Some("aries.transaction.ledger.write_did".to_owned());
    assert!(received(&other, "to the author", &ctx(3)).is_err());
}
