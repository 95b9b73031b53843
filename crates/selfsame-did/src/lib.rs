//! DID syntax, documents and methods; a resolution plan, not a fetch.
