package recall

import (
	"strings"

	"github.com/recountdb/recount/query/errorline"
)

// Programs with message catalogues (bash, coreutils, gcc, make, git) report errors in the user's language. These are the
// words for error, not, no and cannot in their catalogues, as far as they mean nothing in English.
var (
	foreignWords = errorline.Parse(`fehler nicht kein keine keinen erreur introuvable inconnu aucun aucune errore impossibile sconosciuto erro
		desconocido inesistente fout niet geen onbekend fel hittades inte chyba nelze hata nieznany fejl ikke virhe`, "")
	foreignLetters = []string{"ошибка", "не найден", "нет такого", "нет правила", "не удалось", "помилка", "błąd", "nie ma", "não", "エラー", "ません", "错误", "没有", "未找到", "無法", "錯誤", "找不到", "오류", "없습니다", "σφάλμα", "hatası"}
)

// foreign reports whether a line reports an error in another language than English.
func foreign(line string) bool {
	if foreignWords.In(line) {
		return true
	}
	if strings.IndexFunc(line, func(r rune) bool { return r > 127 }) < 0 {
		return false
	}
	line = strings.ToLower(line)
	for _, w := range foreignLetters {
		if strings.Contains(line, w) {
			return true
		}
	}
	return false
}
