package wire

import (
	"bytes"
	"encoding/json"
)

// jsonCodec writes a payload as minified JSON.
type jsonCodec struct{}

func (jsonCodec) Encode(p Payload) ([]byte, error) {
	p, err := p.normal()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(p); err != nil {
		return nil, errorf("json: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
