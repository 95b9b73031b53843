use selfsame_crypto::time::UnixTime;
use selfsame_didcomm::message::{MessageType, Semver};

use super::*;
use crate::advance::Outset;

fn ctx(seed: u8) -> Ctx {
    Ctx::new(UnixTime(1_700_000_000), [seed; 32])
}

fn opening() -> Outset {
    Outset {
        kind: MessageType::new("trust_ping", Semver::new(1, 0), "ping"),
        connection_id: None,
        parent_thread_id: None,
    }
}

fn received(advance: &Advance<PingRecord>) -> PingInput {
    PingInput::Received(Incoming::read(&advance.send[0].message).unwrap())
}

#[test]
fn a_ping_is_answered_and_the_answer_ends_it() {
    let asked = step(
        Footing::New(&opening()),
        &PingInput::Send(Ping::default()),
        &ctx(1),
    )
    .unwrap();
    let answered = step(Footing::New(&opening()), &received(&asked), &ctx(2)).unwrap();
    let ended = step(Footing::Known(&asked.record), &received(&answered), &ctx(3)).unwrap();
    assert_eq!(ended.record.state, PingState::Completed);
    assert_eq!(ended.tell, [Notice::Received("ping_response")]);

    let again = step(Footing::Known(&ended.record), &received(&answered), &ctx(4)).unwrap();
    assert!(again.is_repeated && again.send.is_empty() && again.tell.is_empty());
    let again = step(Footing::Known(&answered.record), &received(&asked), &ctx(5)).unwrap();
    assert!(again.is_repeated && again.send.is_empty());
}

#[test]
fn a_ping_that_wants_no_answer_gets_none() {
    let ping = Ping {
        response_requested: false,
        comment: None,
    };
    let asked = step(Footing::New(&opening()), &PingInput::Send(ping), &ctx(1)).unwrap();
    let heard = step(Footing::New(&opening()), &received(&asked), &ctx(2)).unwrap();
    assert_eq!(
        (asked.record.state, heard.record.state),
        (PingState::Completed, PingState::Completed)
    );
    assert!(heard.send.is_empty());
}

#[test]
fn an_answer_without_a_question_is_refused() {
    let asked = step(
        Footing::New(&opening()),
        &PingInput::Send(Ping::default()),
        &ctx(1),
    )
    .unwrap();
    let answered = step(Footing::New(&opening()), &received(&asked), &ctx(2)).unwrap();
    let refused = step(Footing::New(&opening()), &received(&answered), &ctx(3));
    assert_eq!(refused.unwrap_err(), Problem::unknown_thread());
    let other = step(
        Footing::New(&opening()),
        &PingInput::Send(Ping::default()),
        &ctx(9),
    )
    .unwrap();
    let refused = step(Footing::Known(&other.record), &received(&answered), &ctx(3));
    assert_eq!(refused.unwrap_err(), Problem::unknown_thread());
}
