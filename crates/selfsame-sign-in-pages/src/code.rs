//! The page on which the code is typed in that was sent.

use askama::Template;

use crate::frame::SignInFrame;
use crate::said::Saying;

/// The page on which the code is typed in.
#[derive(Template)]
#[template(path = "code.html")]
pub struct CodePage {
    /// What stands around it.
    pub frame: SignInFrame,
    /// Where the code was sent, masked: nowhere, one address or two.
    pub places: Vec<String>,
    /// The identifier that was typed in, which goes along with the code.
    pub identifier: String,
    /// The kind of address that a new code is sent to.
    pub channel: String,
    /// What is known of the code.
    pub code: AwaitedCode,
    /// The code itself, where codes are shown on the screen for trying out.
    pub on_screen: Option<String>,
    /// Where the code goes.
    pub action: String,
    /// Where the form goes that asks for a new code.
    pub again: String,
    /// The page on which another identifier is typed in.
    pub other: String,
    /// What the person can correct.
    pub problem: Option<Saying>,
}

/// What is known of the code that is awaited.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct AwaitedCode {
    /// Its number of characters.
    pub length: u32,
    /// Whether it has digits alone.
    pub is_numeric: bool,
    /// Minutes for which it is valid.
    pub minutes: u64,
    /// Attempts that are left, once one was wrong.
    pub attempts: Option<u64>,
    /// Seconds until a new one can be asked for.
    pub wait: u64,
}

impl CodePage {
    /// Where the code was sent.
    fn sent(&self) -> Saying {
        let frame = &self.frame;
        match self.places.as_slice() {
            [] => frame.say("code-sent-unknown"),
            [place] => frame.say("code-sent").fill("place", place),
            [first, second, ..] => frame
                .say("code-sent-both")
                .fill("first", first)
                .fill("second", second),
        }
    }
}
