package mcp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// textOf writes the response of a question as compact text. Empty fields and what the answer rests
// on are left out. A list of objects is a table: a line with the names of the columns, and a line
// for each object; a column whose value is the same in every line is named once, above.
//
//	symbol shop.Cart.Total method cart/cart.go:12
//	calls[2] edge=calls repo=github.com/acme/shop: name kind place depth confidence
//	 web.Handler.show function web/handler.go:31 1 0.98
//	 web.Handler.list function web/handler.go:52 1 0.98
func textOf(response any, leaveOut ...string) string {
	var t text
	t.leaveOut = leaveOut
	for _, f := range t.fieldsOf(reflect.ValueOf(response)) {
		if isTable(f.value) {
			t.table(f.name, f.value)
		} else {
			fmt.Fprintf(&t, "%s %s\n", f.name, t.cell(f.value))
		}
	}
	return t.String()
}

// text is compact text while it is written.
type text struct {
	strings.Builder
	// leaveOut names fields that are left out wherever they are.
	leaveOut []string
}

// field is a field that is not empty.
type field struct {
	name  string
	value reflect.Value
}

// fieldsOf returns the fields of a struct that are not empty, those of embedded structs with their
// own. File and line become one field, place.
func (t *text) fieldsOf(v reflect.Value) []field {
	var all []field
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	typ := v.Type()
	hasLine := false
	for _, f := range reflect.VisibleFields(typ) {
		if f.Name == "Line" {
			hasLine = true
		}
	}
	for _, f := range reflect.VisibleFields(typ) {
		if f.Anonymous || !f.IsExported() {
			continue
		}
		name := nameOf(f)
		if name == "" || name == "-" || skipped[name] || slices.Contains(t.leaveOut, name) {
			continue
		}
		value, err := v.FieldByIndexErr(f.Index)
		if err != nil || isEmpty(value) {
			continue
		}
		if hasLine && f.Name == "Line" {
			continue
		}
		if hasLine && f.Name == "File" && value.Kind() == reflect.String {
			place := value.String()
			if n := v.FieldByName("Line"); n.CanUint() && n.Uint() > 0 {
				place += ":" + strconv.FormatUint(n.Uint(), 10)
			} else if n.CanInt() && n.Int() > 0 {
				place += ":" + strconv.FormatInt(n.Int(), 10)
			}
			name, value = "place", reflect.ValueOf(place)
		}
		all = append(all, field{name, value})
	}
	return all
}

// skipped are fields that no model needs: what an answer rests on, which its resource has, and what
// repeats another field.
var skipped = func() map[string]bool {
	all := map[string]bool{"position": true, "snapshot": true, "end_line": true, "exported": true, "variant": true}
	for name := range basisFields {
		all[name] = true
	}
	return all
}()

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Pointer, reflect.Interface:
		return v.IsNil()
	}
	return v.IsZero()
}

func isTable(v reflect.Value) bool {
	return v.Kind() == reflect.Slice && isObject(v.Type().Elem())
}

func isObject(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]() && !t.Implements(reflect.TypeFor[fmt.Stringer]())
}

func (t *text) table(name string, list reflect.Value) {
	rows := make([]map[string]string, list.Len())
	var columns []string
	for i := range rows {
		rows[i] = map[string]string{}
		for _, f := range t.fieldsOf(list.Index(i)) {
			rows[i][f.name] = t.cell(f.value)
			if !slices.Contains(columns, f.name) {
				columns = append(columns, f.name)
			}
		}
	}
	fmt.Fprintf(t, "%s[%d]", name, len(rows))
	if len(rows) > 1 {
		columns = slices.DeleteFunc(columns, func(c string) bool {
			for _, r := range rows[1:] {
				if r[c] != rows[0][c] {
					return false
				}
			}
			fmt.Fprintf(t, " %s=%s", c, rows[0][c])
			return true
		})
	}
	t.WriteString(":")
	for _, c := range columns {
		t.WriteString(" " + c)
	}
	t.WriteString("\n")
	for _, r := range rows {
		for _, c := range columns {
			value, has := r[c]
			if !has {
				value = "-"
			}
			t.WriteString(" " + value)
		}
		t.WriteString("\n")
	}
}

// cell writes a value in a line.
func (t *text) cell(v reflect.Value) string {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return "-"
		}
		v = v.Elem()
	}
	switch x := v.Interface().(type) {
	case time.Time:
		return x.UTC().Format(time.RFC3339)
	case schemas.EventID:
		return x.String()[:shortID]
	case schemas.Hash:
		return x.String()[:shortHash]
	case query.Basis:
		return ""
	case fmt.Stringer:
		return word(x.String())
	}
	switch v.Kind() {
	case reflect.String:
		return word(short(v.String()))
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', 3, 64)
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Slice, reflect.Array:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = t.cell(v.Index(i))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case reflect.Map:
		var parts []string
		for it := v.MapRange(); it.Next(); {
			parts = append(parts, fmt.Sprint(it.Key())+"="+t.cell(it.Value()))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, " ") + "}"
	case reflect.Struct:
		var parts []string
		for _, f := range t.fieldsOf(v) {
			parts = append(parts, f.name+"="+t.cell(f.value))
		}
		return "{" + strings.Join(parts, " ") + "}"
	}
	return fmt.Sprint(v.Interface())
}

// The lengths at which ids and hashes are still unambiguous, and accepted as references.
const (
	shortID   = 18
	shortHash = 12
)

// short cuts a commit's hash.
func short(s string) string {
	if (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == "" {
		return s[:shortHash]
	}
	return s
}

// word writes a string so that it stays one value: in quotes, if it has spaces, line ends, or what
// does not print. Recorded text is quoted data, whatever it says.
func word(s string) string {
	if s == "" {
		return `""`
	}
	if strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == '"' || r == unicode.ReplacementChar
	}) {
		b, err := json.Marshal(s)
		if err != nil {
			return strconv.Quote(s)
		}
		return unescapeHTML(string(b))
	}
	return s
}

// unescapeHTML writes <, > and & as they are.
var htmlEscapes = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

func unescapeHTML(s string) string { return htmlEscapes.Replace(s) }
