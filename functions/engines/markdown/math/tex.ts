/** Names in LaTeX of the symbols in formulas. */
const symbols: Record<string, string> = Object.fromEntries(
  `α alpha β beta γ gamma δ delta ε varepsilon ϵ epsilon ζ zeta η eta θ theta ϑ vartheta ι iota κ kappa λ lambda μ mu ν nu ξ xi
  π pi ρ rho ϱ varrho σ sigma ς varsigma τ tau υ upsilon φ varphi ϕ phi χ chi ψ psi ω omega Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi
  Π Pi Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega ∑ sum ∏ prod ∐ coprod ∫ int ∬ iint ∭ iiint ∮ oint ∂ partial ∇ nabla ∞ infty ± pm ∓ mp
  × times ÷ div ⋅ cdot · cdot ∙ bullet ∗ ast ⋆ star ∘ circ ≤ leq ≥ geq ≠ neq ≈ approx ≡ equiv ∼ sim ≃ simeq ≅ cong ∝ propto ≪ ll ≫ gg
  ∈ in ∉ notin ∋ ni ⊂ subset ⊃ supset ⊆ subseteq ⊇ supseteq ∪ cup ∩ cap ∅ emptyset ∖ setminus ∀ forall ∃ exists ∄ nexists ¬ neg ∧ wedge
  ∨ vee ⊕ oplus ⊗ otimes → to ← leftarrow ↔ leftrightarrow ⇒ Rightarrow ⇐ Leftarrow ⇔ Leftrightarrow ↦ mapsto ↑ uparrow ↓ downarrow
  … ldots ⋯ cdots ⋮ vdots ⋱ ddots ℏ hbar ℓ ell ℝ mathbb{R} ℕ mathbb{N} ℤ mathbb{Z} ℚ mathbb{Q} ℂ mathbb{C} ℜ Re ℑ Im ℵ aleph √ surd
  ∠ angle ⊥ perp ∥ parallel ∣ mid ⟨ langle ⟩ rangle ⌈ lceil ⌉ rceil ⌊ lfloor ⌋ rfloor † dagger ‡ ddagger ′ prime ∴ therefore ∵ because
  ⊢ vdash ⊨ models ⋃ bigcup ⋂ bigcap ⨁ bigoplus ⨂ bigotimes ⋁ bigvee ⋀ bigwedge ‖ |`
    .split(/\s+/)
    .flatMap((word, index, words) => (index % 2 === 0 ? [[word, words[index + 1] ?? '']] : [])),
);

const functions = new Set(
  'sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh coth log ln lg exp lim max min sup inf det dim ker deg gcd arg Pr hom limsup liminf'.split(
    ' ',
  ),
);

const reserved: Record<string, string> = {
  '\\': '\\backslash ',
  '~': '\\sim ',
  '^': '\\hat{} ',
  '−': '-',
  '⁢': '',
  '⁡': '',
};

/** Returns letters and symbols as LaTeX. */
export function texOf(text: string): string {
  if (functions.has(text.trim())) return `\\${text.trim()} `;
  return [...(text.normalize('NFKC').length === text.length ? text : mathLetters(text))]
    .map((letter) => {
      const name = symbols[letter];
      if (name !== undefined) return `\\${name} `;
      if (letter in reserved) return reserved[letter];
      return /[#$%&_{}]/.test(letter) ? `\\${letter}` : letter;
    })
    .join('');
}

/** Replaces the letters of mathematical alphabets, such as an italic x, by plain ones. */
function mathLetters(text: string): string {
  return text.replaceAll(/[\u{1d400}-\u{1d7ff}]/gu, (letter) => letter.normalize('NFKC'));
}

/** Returns words as LaTeX. */
export function texText(text: string): string {
  return text.trim() === '' ? ' ' : `\\text{${text.replaceAll(/[\\{}$%#&_^~]/g, ' ')}}`;
}

export function group(tex: string): string {
  return `{${tex.trim()}}`;
}

export function fraction(top: string, bottom: string): string {
  return `\\frac${group(top)}${group(bottom)}`;
}

export function root(content: string, degree = ''): string {
  return degree.trim() === '' ? `\\sqrt${group(content)}` : `\\sqrt[${degree.trim()}]${group(content)}`;
}

/** Returns a base with what is below and above it. */
export function scripts(base: string, below: string, above: string): string {
  const core = base.trim();
  const isSingle = core.length <= 1 || /^\\[a-z]+$/i.test(core) || /^\{.*\}$/.test(core);
  return (
    (isSingle ? core : group(core)) +
    (below.trim() === '' ? '' : `_${group(below)}`) +
    (above.trim() === '' ? '' : `^${group(above)}`)
  );
}

const accents: Record<string, string> = {
  '\u0302': 'hat',
  '^': 'hat',
  '\u0303': 'tilde',
  '~': 'tilde',
  '˜': 'tilde',
  '\u0304': 'bar',
  '¯': 'bar',
  '\u0305': 'overline',
  '‾': 'overline',
  '\u20d7': 'vec',
  '→': 'vec',
  '\u0307': 'dot',
  '˙': 'dot',
  '\u0308': 'ddot',
  '¨': 'ddot',
  '\u030c': 'check',
  ˇ: 'check',
  '\u0306': 'breve',
  '\u0301': 'acute',
  '\u0300': 'grave',
  '⏞': 'overbrace',
  '⏟': 'underbrace',
  _: 'underline',
  '\u0332': 'underline',
  ˆ: 'hat',
};

/** Returns a base with an accent, or with text over it. */
export function accent(base: string, mark: string): string {
  const name = accents[mark.trim()];
  return name ? `\\${name}${group(base)}` : `\\overset${group(texOf(mark))}${group(base)}`;
}

const brackets: Record<string, string> = { '{': '\\{', '}': '\\}', '': '.', '‖': '\\|' };

export function fenced(left: string, content: string, right: string): string {
  const bracket = (sign: string) => brackets[sign] ?? texOf(sign).trim();
  return `\\left${bracket(left)} ${content.trim()} \\right${bracket(right)} `;
}

export function matrix(rows: string[][], environment = 'matrix'): string {
  const body = rows.map((cells) => cells.map((cell) => cell.trim()).join(' & ')).join(' \\\\ ');
  return `\\begin{${environment}} ${body} \\end{${environment}} `;
}

/** Returns LaTeX with single spaces. */
export function tidyTex(tex: string): string {
  return tex
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ (?=[}^_,;.)\]])/g, '')
    .trim();
}
