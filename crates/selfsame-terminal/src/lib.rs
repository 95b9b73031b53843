//! The kernel of the commands: how they end, print, log, stop, and open the data that they are pointed to.
//!
//! Owns: exit codes and the report of an error, standard output and standard error, QR codes, the log, the progress of long
//! work, the signals that stop a command, what systemd is told, addresses on the command line and those that an instance listens at, the options for the master key, and the opening of the records in a
//! directory. Does not own: which commands there are, what they do, and an instance.

pub mod address;
pub mod exit;
pub mod interrupt;
pub mod listening;
pub mod log;
pub mod master_key;
pub mod next_key;
pub mod output;
pub mod pkcs12;
pub mod progress;
pub mod qr;
pub mod records;
pub mod serving;
pub mod systemd;
pub mod watchdog;
