package wire

import (
	"bytes"
	"encoding/json"
	"io"
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

func (jsonCodec) Decode(data []byte) (Payload, error) {
	var p Payload
	if err := checkSize(data); err != nil {
		return p, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return Payload{}, errorf("json: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Payload{}, errorf("json: more than one value")
	}
	return p.normal()
}
