package wire

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Codec encodes payloads.
type Codec interface {
	Encode(p Payload) ([]byte, error)
}

// The names of the built-in codecs.
const (
	Text   = "text"
	Binary = "binary"
	JSON   = "json"
)

// Registry has codecs by name. Its methods may be called concurrently.
type Registry struct {
	mu     sync.RWMutex
	codecs map[string]Codec
}

// Builtin returns a registry with the codecs of this package.
func Builtin() *Registry {
	r := &Registry{}
	r.Register(Text, textCodec{})
	r.Register(Binary, binaryCodec{})
	r.Register(JSON, jsonCodec{})
	return r
}

// Register adds a codec. It panics if the name is empty or taken, since that is a mistake in the
// program.
func (r *Registry) Register(name string, c Codec) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.codecs[name]; taken || name == "" || c == nil {
		panic(fmt.Sprintf("wire: codec %q is nil, has no name, or is registered twice", name))
	}
	if r.codecs == nil {
		r.codecs = map[string]Codec{}
	}
	r.codecs[name] = c
}

// Get returns a codec by name.
func (r *Registry) Get(name string) (Codec, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if c, ok := r.codecs[name]; ok {
		return c, nil
	}
	return nil, errorf("format %q: want one of %s", name, strings.Join(slices.Sorted(maps.Keys(r.codecs)), ", "))
}

// EncodeWith encodes with the codec of a name.
func (r *Registry) EncodeWith(name string, p Payload) ([]byte, error) {
	c, err := r.Get(name)
	if err != nil {
		return nil, err
	}
	return c.Encode(p)
}

func errorf(format string, args ...any) error { return fmt.Errorf("wire: "+format, args...) }
