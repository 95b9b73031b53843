//! The book of the organisation that was called.

use selfsame_book_role::Book;

/// The book of the organisation whose address was called.
#[derive(Clone)]
pub struct BookHere {
    /// The book.
    pub book: Book,
    /// What the paths of the organisation's pages begin with.
    pub prefix: String,
}
