package access

import "fmt"

// LeastToken is the minimum length of the operator's token in characters; shorter ones can be
// guessed.
const LeastToken = 16

// CheckToken fails if an operator's token is short enough to be guessed.
func CheckToken(token string) error {
	if n := len([]rune(token)); n < LeastToken {
		return fmt.Errorf("the token has %d characters, want at least %d: openssl rand -hex 32 makes one", n, LeastToken)
	}
	return nil
}
