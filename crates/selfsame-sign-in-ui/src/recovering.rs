//! Recovery words on pages: new words, a copy of the cards that is sealed under them, and the wallet restored from it.

use std::sync::Arc;

use axum::body::Body;
use axum::response::IntoResponse as _;
use futures_util::{Stream, stream};
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use selfsame_catalogue::{Language, sentence};
use selfsame_crypto::SecretString;
use selfsame_driver::Error;
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::Form;
use selfsame_pages::Frame;
use selfsame_recovery::RecoveryWords;
use selfsame_sign_in_pages::account::recovery::{RecoveryContent, RefusedRow, RestoredContent};
use selfsame_wallet::{BegunCopy, RestoredCopy};

use crate::account::{correctable, shown, shown_again};
use crate::door::AtSeat;
use crate::receiving::OwnWallet;

/// The largest form with a copy. A larger copy is restored by the command.
pub const COPY_FORM_MAX: usize = 8 << 20;
const TITLE: &str = "Recovery";
/// The refused lines that are shown.
const SHOWN_MAX: usize = 20;

/// Where the next part of a copy begins.
enum NextPart {
    First,
    After(String),
    End,
    Nothing,
}

/// A copy on its way.
struct Copying {
    own: OwnWallet,
    begun: BegunCopy,
}

/// What can be done here.
pub async fn page(_own: OwnWallet, frame: Frame) -> Handled {
    let content = content(&frame);
    shown(frame, TITLE, &content)
}

/// Shows new words, once.
pub async fn words(own: OwnWallet, frame: Frame, _form: Form) -> Handled {
    let words = own.wallet.new_recovery_words().text();
    let words = words.expose().split(' ').map(str::to_owned).collect();
    let content = RecoveryContent {
        words,
        ..content(&frame)
    };
    let page = shown(frame, TITLE, &content)?;
    Ok(([(CACHE_CONTROL, "no-store")], page).into_response())
}

/// The copy of all cards, sealed under the words that the person has typed.
pub async fn copy(own: OwnWallet, at: AtSeat, frame: Frame, form: Form) -> Handled {
    let begun = match begun(&own, &at, &form).await {
        Ok(begun) => begun,
        Err(problem) => return again(frame, problem),
    };
    let headers = [
        (CONTENT_TYPE, "application/x-ndjson"),
        (CONTENT_DISPOSITION, "attachment; filename=\"cards.ndjson\""),
        (CACHE_CONTROL, "no-store"),
    ];
    let parts = parts(Arc::new(Copying { own, begun }));
    Ok((headers, Body::from_stream(parts)).into_response())
}

async fn begun(own: &OwnWallet, at: &AtSeat, form: &Form) -> Handled<BegunCopy> {
    let words = typed(form)?;
    let password = SecretString::from(form.verbatim("password")?);
    let (wallet, whence) = (&own.wallet, at.door.whence());
    let begun = wallet.begin_copy(&own.person, words, password, &whence);
    Ok(begun.await?)
}

/// The parts, each read once the one before it was sent.
fn parts(copying: Arc<Copying>) -> impl Stream<Item = Result<String, Error>> + Send + 'static {
    stream::try_unfold((NextPart::First, 0_u64), move |(next, count)| {
        let copying = copying.clone();
        async move {
            let Copying { own, begun } = &*copying;
            let (head, after) = match next {
                NextPart::First => (format!("{}\n", begun.head), None),
                NextPart::After(cursor) => (String::new(), Some(cursor)),
                NextPart::End => {
                    let end = format!("{{\"end\":{count}}}\n");
                    return Ok(Some((end, (NextPart::Nothing, count))));
                }
                NextPart::Nothing => return Ok(None),
            };
            let part = own.wallet.copy_part(&own.person, &begun.export, after);
            let part = part.await?;
            let then = part.next.map_or(NextPart::End, NextPart::After);
            let count = count.saturating_add(part.count);
            Ok(Some((head + &part.lines, (then, count))))
        }
    })
}

/// Restores the cards of a copy, and says what came of it.
pub async fn restore(own: OwnWallet, frame: Frame, form: Form) -> Handled {
    match restored(&own, &form).await {
        Ok(restored) => shown(frame, TITLE, &told(&restored)),
        Err(problem) => again(frame, problem),
    }
}

async fn restored(own: &OwnWallet, form: &Form) -> Handled<RestoredCopy> {
    let words = typed(form)?;
    let chosen = form.file("file");
    let file = chosen.ok_or_else(|| Error::bad_request("copy-file-absent"))?;
    let restored = own.wallet.restore(&own.person, words, &file.bytes);
    Ok(restored.await?)
}

/// The words that a person has typed.
fn typed(form: &Form) -> Handled<RecoveryWords> {
    let words = RecoveryWords::parse(form.verbatim("words")?);
    Ok(words.map_err(|fault| Error::bad_request("recovery-words-wrong").with("fault", &fault))?)
}

fn told(restored: &RestoredCopy) -> RestoredContent {
    let refused = restored.refused.iter().take(SHOWN_MAX);
    RestoredContent {
        stored: restored.stored,
        known: restored.known,
        refused_count: restored.refused.len(),
        refused: refused
            .map(|one| RefusedRow {
                line: one.line,
                why: sentence(Language::English, &one.why).text,
            })
            .collect(),
        is_complete: restored.is_complete,
    }
}

fn content(frame: &Frame) -> RecoveryContent {
    RecoveryContent {
        form: frame.form.clone(),
        words: Vec::new(),
        megabytes: COPY_FORM_MAX >> 20,
        problem: None,
    }
}

/// The page with what the person can correct; any other problem is returned.
fn again(frame: Frame, problem: Problem) -> Handled {
    let told = correctable(problem)?;
    let content = RecoveryContent {
        problem: Some(told.text),
        ..content(&frame)
    };
    shown_again(frame, TITLE, &content, told.status)
}
