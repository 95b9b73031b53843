//! The conformance suite against the back ends of this crate.

mod books;
#[path = "suite.rs"]
mod suite;

mod memory {
    use crate::suite::ground::Ground;

    crate::suite::conformance! { Ground::memory() }
    crate::books::conformance! { crate::books::ledger::Ledger::memory() }
}

mod sqlite {
    use crate::suite::ground::Ground;

    crate::suite::conformance! { Ground::sqlite() }
    crate::books::conformance! { crate::books::ledger::Ledger::sqlite() }
}
