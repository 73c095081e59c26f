// The words of other languages that training logs are written in.
#include "osler/run/foreign_names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace osler {
namespace {

struct Translation {
  std::string_view foreign;
  std::string_view english;
};

// Scripts without blanks between words: found anywhere in a name, longer ones before those they contain.
constexpr std::array kPhrases = {
    // Chinese, simplified and traditional
    Translation{"学习率", "lr"},
    Translation{"學習率", "lr"},
    Translation{"梯度范数", "grad norm"},
    Translation{"梯度範數", "grad norm"},
    Translation{"交叉熵", "cross entropy"},
    Translation{"困惑度", "perplexity"},
    Translation{"准确率", "accuracy"},
    Translation{"準確率", "accuracy"},
    Translation{"准确度", "accuracy"},
    Translation{"正确率", "accuracy"},
    Translation{"精确率", "precision"},
    Translation{"查准率", "precision"},
    Translation{"召回率", "recall"},
    Translation{"查全率", "recall"},
    Translation{"验证集", "validation"},
    Translation{"驗證集", "validation"},
    Translation{"训练集", "train"},
    Translation{"訓練集", "train"},
    Translation{"测试集", "test"},
    Translation{"測試集", "test"},
    Translation{"验证", "validation"},
    Translation{"驗證", "validation"},
    Translation{"训练", "train"},
    Translation{"訓練", "train"},
    Translation{"测试", "test"},
    Translation{"測試", "test"},
    Translation{"损失", "loss"},
    Translation{"損失", "loss"},
    Translation{"误差", "error"},
    Translation{"誤差", "error"},
    Translation{"奖励", "reward"},
    Translation{"獎勵", "reward"},
    Translation{"回报", "return"},
    Translation{"轮次", "epoch"},
    Translation{"轮数", "epoch"},
    Translation{"步数", "step"},
    Translation{"步數", "step"},
    Translation{"步骤", "step"},
    Translation{"迭代", "iteration"},
    Translation{"平均", "average"},
    Translation{"最佳", "best"},
    Translation{"最好", "best"},
    // Japanese
    Translation{"学習率", "lr"},
    Translation{"正解率", "accuracy"},
    Translation{"精度", "accuracy"},
    Translation{"検証", "validation"},
    Translation{"学習", "train"},
    Translation{"報酬", "reward"},
    Translation{"エポック", "epoch"},
    Translation{"ステップ", "step"},
    Translation{"テスト", "test"},
    // Korean
    Translation{"학습률", "lr"},
    Translation{"정확도", "accuracy"},
    Translation{"에포크", "epoch"},
    Translation{"에폭", "epoch"},
    Translation{"손실", "loss"},
    Translation{"검증", "validation"},
    Translation{"훈련", "train"},
    Translation{"학습", "train"},
    Translation{"테스트", "test"},
    Translation{"보상", "reward"},
    Translation{"스텝", "step"},
    // Vietnamese, whose words are written apart
    Translation{"độ chính xác", "accuracy"},
    Translation{"Độ chính xác", "accuracy"},
    Translation{"huấn luyện", "train"},
    Translation{"Huấn luyện", "train"},
    Translation{"kiểm định", "validation"},
    Translation{"xác thực", "validation"},
    Translation{"kiểm tra", "test"},
    Translation{"Kiểm tra", "test"},
    Translation{"mất mát", "loss"},
    Translation{"Mất mát", "loss"},
};

// Whole words, in lower case.
constexpr std::array kWords = {
    // German; its compounds are taken apart first
    Translation{"verlust", "loss"},
    Translation{"verluste", "loss"},
    Translation{"fehler", "error"},
    Translation{"genauigkeit", "accuracy"},
    Translation{"epoche", "epoch"},
    Translation{"epochen", "epoch"},
    Translation{"schritt", "step"},
    Translation{"schritte", "step"},
    Translation{"lernrate", "lr"},
    Translation{"validierung", "validation"},
    Translation{"gradientennorm", "grad norm"},
    Translation{"belohnung", "reward"},
    // French
    Translation{"perte", "loss"},
    Translation{"pertes", "loss"},
    Translation{"erreur", "error"},
    Translation{"exactitude", "accuracy"},
    Translation{"précision", "precision"},
    Translation{"époque", "epoch"},
    Translation{"epoque", "epoch"},
    Translation{"étape", "step"},
    Translation{"etape", "step"},
    Translation{"entraînement", "train"},
    Translation{"entrainement", "train"},
    Translation{"récompense", "reward"},
    Translation{"évaluation", "validation"},
    // Spanish and Portuguese
    Translation{"pérdida", "loss"},
    Translation{"perdida", "loss"},
    Translation{"perda", "loss"},
    Translation{"exactitud", "accuracy"},
    Translation{"precisión", "accuracy"},
    Translation{"acurácia", "accuracy"},
    Translation{"acuracia", "accuracy"},
    Translation{"precisão", "precision"},
    Translation{"época", "epoch"},
    Translation{"epoca", "epoch"},
    Translation{"paso", "step"},
    Translation{"passo", "step"},
    Translation{"entrenamiento", "train"},
    Translation{"treino", "train"},
    Translation{"treinamento", "train"},
    Translation{"validación", "validation"},
    Translation{"validacion", "validation"},
    Translation{"validação", "validation"},
    Translation{"validacao", "validation"},
    Translation{"prueba", "test"},
    Translation{"teste", "test"},
    Translation{"recompensa", "reward"},
    Translation{"erro", "error"},
    // Italian
    Translation{"perdita", "loss"},
    Translation{"accuratezza", "accuracy"},
    Translation{"precisione", "precision"},
    Translation{"addestramento", "train"},
    Translation{"validazione", "validation"},
    Translation{"ricompensa", "reward"},
    Translation{"errore", "error"},
    // Dutch
    Translation{"verlies", "loss"},
    Translation{"nauwkeurigheid", "accuracy"},
    Translation{"stap", "step"},
    Translation{"leersnelheid", "lr"},
    Translation{"validatie", "validation"},
    Translation{"beloning", "reward"},
    // Swedish, Danish and Norwegian
    Translation{"förlust", "loss"},
    Translation{"träning", "train"},
    Translation{"træning", "train"},
    Translation{"trening", "train"},
    Translation{"validering", "validation"},
    Translation{"noggrannhet", "accuracy"},
    Translation{"nøyaktighet", "accuracy"},
    Translation{"nøjagtighed", "accuracy"},
    Translation{"inlärningshastighet", "lr"},
    // Polish
    Translation{"strata", "loss"},
    Translation{"dokładność", "accuracy"},
    Translation{"epoka", "epoch"},
    Translation{"krok", "step"},
    Translation{"walidacja", "validation"},
    // Turkish
    Translation{"kayıp", "loss"},
    Translation{"kayip", "loss"},
    Translation{"kaybı", "loss"},
    Translation{"kaybi", "loss"},
    Translation{"doğruluk", "accuracy"},
    Translation{"doğruluğu", "accuracy"},
    Translation{"dogruluk", "accuracy"},
    Translation{"eğitim", "train"},
    Translation{"doğrulama", "validation"},
    Translation{"adım", "step"},
    // Russian
    Translation{"потеря", "loss"},
    Translation{"потери", "loss"},
    Translation{"лосс", "loss"},
    Translation{"ошибка", "error"},
    Translation{"точность", "accuracy"},
    Translation{"эпоха", "epoch"},
    Translation{"шаг", "step"},
    Translation{"потерь", "loss"},
    Translation{"валидация", "validation"},
    Translation{"валидации", "validation"},
    Translation{"вал", "validation"},
    Translation{"проверка", "validation"},
    Translation{"проверки", "validation"},
    Translation{"обучение", "train"},
    Translation{"обучения", "train"},
    Translation{"тренировки", "train"},
    Translation{"тренировка", "train"},
    Translation{"тест", "test"},
    Translation{"тесте", "test"},
    Translation{"тестовая", "test"},
    Translation{"награда", "reward"},
};

// Several words that mean one thing, in lower case and with single blanks.
constexpr std::array kSayings = {
    Translation{"taux d apprentissage", "lr"},     Translation{"tasa de aprendizaje", "lr"},
    Translation{"taux apprentissage", "lr"},       Translation{"tasa aprendizaje", "lr"},
    Translation{"taxa aprendizado", "lr"},         Translation{"tasso apprendimento", "lr"},
    Translation{"taxa de aprendizado", "lr"},      Translation{"taxa de aprendizagem", "lr"},
    Translation{"tasso di apprendimento", "lr"},   Translation{"скорость обучения", "lr"},
    Translation{"norme du gradient", "grad norm"}, Translation{"norma del gradiente", "grad norm"},
};

// German and Swedish join their nouns: "Trainingsverlust", "valideringsförlust".
constexpr std::array kJoined = {Translation{"validierungs", "validation"}, Translation{"trainings", "train"},
                                Translation{"validerings", "validation"}, Translation{"tränings", "train"},
                                Translation{"test", "test"}};

constexpr unsigned kLatinLead = 0xC3;
constexpr unsigned kCyrillicLead = 0xD0;

/// Lower case for ASCII, Western European letters and Cyrillic; other bytes stay as they are.
std::string lowered(std::string_view text) {
  std::string lower(text);
  for (std::size_t i = 0; i < lower.size(); ++i) {
    const auto c = static_cast<unsigned char>(lower[i]);
    if (c < 0x80) {
      lower[i] = static_cast<char>(std::tolower(c));
      continue;
    }
    if (i + 1 >= lower.size()) break;
    const auto next = static_cast<unsigned char>(lower[i + 1]);
    if (c == kLatinLead && next >= 0x80 && next <= 0x9E) lower[i + 1] = static_cast<char>(next + 0x20);
    if (c == kCyrillicLead && next >= 0x90 && next <= 0x9F) lower[i + 1] = static_cast<char>(next + 0x20);
    if (c == kCyrillicLead && next >= 0xA0 && next <= 0xAF) {
      lower[i] = static_cast<char>(kCyrillicLead + 1);
      lower[i + 1] = static_cast<char>(next - 0x20);
    }
    if (c == kLatinLead || c == kCyrillicLead || c == kCyrillicLead + 1) ++i;
  }
  return lower;
}

bool is_letter(unsigned char c) {
  return c >= 0x80 || std::isalnum(c) != 0;
}

template <std::size_t N>
std::string_view look_up(const std::array<Translation, N>& list, std::string_view word) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Translation& entry) { return entry.foreign == word; });
  return found == list.end() ? std::string_view{} : found->english;
}

/// The translation of one word in lower case, or an empty text.
std::string word_in_english(std::string_view word) {
  if (const std::string_view english = look_up(kWords, word); !english.empty()) return std::string(english);
  for (const Translation& part : kJoined) {
    if (!word.starts_with(part.foreign)) continue;
    const std::string_view rest = look_up(kWords, word.substr(part.foreign.size()));
    if (!rest.empty()) return std::string(part.english) + ' ' + std::string(rest);
  }
  return {};
}

std::string replace_all(std::string text, const Translation& entry) {
  for (std::size_t at = text.find(entry.foreign); at != std::string::npos; at = text.find(entry.foreign, at)) {
    const std::string padded = ' ' + std::string(entry.english) + ' ';
    text.replace(at, entry.foreign.size(), padded);
    at += padded.size();
  }
  return text;
}

/// The words of `text` in lower case with single blanks between them, to find sayings in.
std::string words_of(std::string_view text) {
  std::string words;
  for (const char c : lowered(text)) {
    if (is_letter(static_cast<unsigned char>(c))) {
      words += c;
    } else if (!words.empty() && words.back() != ' ') {
      words += ' ';
    }
  }
  return words;
}

}  // namespace

std::string in_english(std::string_view name) {
  std::string text(name);
  if (std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) >= 0xE0; })) {
    for (const Translation& phrase : kPhrases) text = replace_all(std::move(text), phrase);
  }
  const std::string words = words_of(text);
  for (const Translation& saying : kSayings) {
    if (words.find(saying.foreign) != std::string::npos) text = replace_all(words, saying);
  }
  std::string english;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_letter(static_cast<unsigned char>(text[end]))) ++end;
    if (end == i) {
      english += text[i++];
      continue;
    }
    const std::string_view word(text.data() + i, end - i);
    // French joins its "of" and "the" to the word behind: "perte d'entraînement".
    const bool elided = (word == "d" || word == "l") && end + 1 < text.size() && text[end] == '\'';
    if (elided && is_letter(static_cast<unsigned char>(text[end + 1]))) {
      i = end + 1;
      continue;
    }
    const std::string known = word_in_english(lowered(word));
    english += known.empty() ? std::string(word) : ' ' + known + ' ';
    i = end;
  }
  return english;
}

}  // namespace osler
