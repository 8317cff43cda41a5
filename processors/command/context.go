package command

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// contextHash returns xxh3 over the context of a command: each field as its length (uint32,
// little-endian) and its bytes, in the order cwd, shell, user, host, git head, then the number of
// variables and each one's name and value, sorted by name.
func contextHash(c *recountv1.CommandExecuted) uint64 {
	var room [512]byte
	b := room[:0]
	for _, s := range []string{c.Cwd, c.Shell, c.User, c.Host, c.GitHead} {
		b = appendField(b, s)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(c.Env)))
	if len(c.Env) > 0 {
		for _, name := range slices.Sorted(maps.Keys(c.Env)) {
			b = appendField(appendField(b, name), c.Env[name])
		}
	}
	return xxh3.Hash(b)
}

func appendField(b []byte, s string) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s)))
	return append(b, s...)
}

// ContentHash returns xxh3 over the command after Fold.
func ContentHash(command string) uint64 { return xxh3.HashString(Fold(command)) }

// Fold removes leading and trailing white space and replaces each run inside by one space. Text
// that is already in this form is returned unchanged.
func Fold(s string) string {
	if folded(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	space := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			space = b.Len() > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

func folded(s string) bool {
	space := true
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ' ':
			if space {
				return false
			}
			space = true
		case c < ' ' || c >= utf8.RuneSelf:
			return false
		default:
			space = false
		}
	}
	return !space
}
