//! The conformance suite against the back ends of this crate.

mod books;
mod homes;
#[path = "suite.rs"]
mod suite;

mod memory {
    crate::suite::conformance! { crate::homes::memory() }
    crate::books::conformance! { crate::books::ledger::Ledger::memory() }
}

mod sqlite {
    crate::suite::conformance! { crate::homes::sqlite() }
    crate::books::conformance! { crate::books::ledger::Ledger::sqlite() }
}
