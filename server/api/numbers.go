package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
)

// Unmarshal is json.Unmarshal, but it takes a whole number for an integer however it is written: 5.0 and 1e3
// too, as JSON Schema's type integer does (2020-12 validation, 6.1.1). Clients whose numbers are all floating
// point write them so.
func Unmarshal(b []byte, v any) error {
	err := json.Unmarshal(b, v)
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) || !strings.HasPrefix(wrong.Value, "number") {
		return err
	}
	if whole, ok := WholeNumbers(b); ok {
		return json.Unmarshal(whole, v)
	}
	return err
}

// maxWhole is the maximum length of a number that is rewritten: an exponent may stand for more digits than fit
// into memory.
const maxWhole = 24

// WholeNumbers returns JSON text in which whole numbers have neither a fraction nor an exponent; false if it is
// no JSON.
func WholeNumbers(b []byte) ([]byte, bool) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil, false
	}
	out, err := json.Marshal(whole(v))
	return out, err == nil
}

// whole rewrites the numbers of a decoded value.
func whole(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = whole(e)
		}
	case []any:
		for i, e := range v {
			v[i] = whole(e)
		}
	case json.Number:
		f, ok := new(big.Float).SetString(v.String())
		if !ok || !f.IsInt() || f.MantExp(nil) > 64 || len(v) > maxWhole {
			return v
		}
		return json.Number(f.Text('f', 0))
	}
	return v
}
