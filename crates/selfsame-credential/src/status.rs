//! Status lists: what a credential's issuer says of it today.
