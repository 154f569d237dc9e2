//! `htpasswd -b FILE USER PASSWORD` and `htpasswd -nb USER PASSWORD`.

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct HtpasswdCall {
    /// Whether the password is on the command line.
    is_batch: bool,
    /// Whether it prints its result and has no file argument.
    prints: bool,
    /// Whether the next word belongs to an option.
    skips: bool,
    /// How many words were not options.
    words: usize,
}

impl HtpasswdCall {
    /// Parses an option, which may be several combined letters.
    pub(super) fn handle_option(&mut self, word: &[u8]) {
        self.is_batch |= word.contains(&b'b');
        self.prints |= word.contains(&b'n');
        // The cost of bcrypt and the rounds of SHA-2 are numbers in the next word.
        self.skips = word.ends_with(b"C") || word.ends_with(b"r");
    }

    /// Counts a word that is not an option, and returns true if it is the password.
    pub(super) fn is_password(&mut self) -> bool {
        if std::mem::take(&mut self.skips) {
            return false;
        }
        self.words += 1;
        self.is_batch && self.words == if self.prints { 2 } else { 3 }
    }
}
