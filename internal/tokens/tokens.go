// Package tokens counts the tokens of a text as language models do, with the vocabulary o200k and
// without a network. Budgets of answers for agents are in these tokens.
//
// A program that counts nothing pays nothing: the vocabulary, about 6 MB in memory, is built by the
// first call, which takes about 0.1 s. All functions may be called concurrently.
package tokens

import (
	"strings"
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"
)

// o200k builds the tokenizer at its first call.
var o200k = sync.OnceValue(codec.NewO200kBase)

// Count returns the number of tokens of a text. Bytes that are not UTF-8 count as U+FFFD, since that
// is what a model gets in their place.
func Count(text string) int {
	if text == "" {
		return 0
	}
	n, err := o200k().Count(strings.ToValidUTF8(text, "\uFFFD"))
	if err != nil {
		// The expression that splits has no time limit, which is its only failure.
		panic("tokens: " + err.Error())
	}
	return n
}
