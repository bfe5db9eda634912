(* Optimal values of quadratic programs, and what else is said of linear classifiers, closed by computation.

   A program over rational points x is

       minimise   (sum of w (m'x + t)^2  +  q'x  +  c) / scale      subject to   a'x = b,   g'x <= h

   with integers throughout: data with a common denominator are multiplied by it. A point and multipliers, given as
   integers over one denominator, prove its minimum. [check] multiplies and adds integers; that it is right is proved
   below, once, for all programs and all points. Nothing is assumed. *)

Require Import ZArith QArith List Bool Lia Lqa.
Import ListNotations.
Open Scope Q_scope.

Local Arguments Z.eqb : simpl never.
Local Arguments Z.leb : simpl never.
Local Arguments Z.add : simpl never.
Local Arguments Z.mul : simpl never.
Local Arguments inject_Z : simpl never.

Definition vector := list Z.
Definition point := list Q.

(* a'x; entries that are missing are 0 *)
Fixpoint dot (a : vector) (x : point) : Q :=
  match a, x with
  | c :: a', y :: x' => inject_Z c * y + dot a' x'
  | _, _ => 0
  end.

(* ---- what is claimed ------------------------------------------------------------------------------------------ *)

Record program := Program {
  scale : positive;
  squares : list (Z * vector * Z);   (* (w, m, t) stands for w (m'x + t)^2 *)
  linear : vector;                   (* q *)
  constant : Z;                      (* c *)
  equal : list (vector * Z);         (* (a, b) stands for a'x = b *)
  below : list (vector * Z)          (* (g, h) stands for g'x <= h *)
}.

Fixpoint sum_of_squares (l : list (Z * vector * Z)) (x : point) : Q :=
  match l with
  | [] => 0
  | (w, m, t) :: l' => inject_Z w * ((dot m x + inject_Z t) * (dot m x + inject_Z t)) + sum_of_squares l' x
  end.

Definition objective (p : program) (x : point) : Q :=
  (sum_of_squares (squares p) x + dot (linear p) x + inject_Z (constant p)) * (1 # scale p).

Definition feasible (p : program) (x : point) : Prop :=
  Forall (fun r => dot (fst r) x == inject_Z (snd r)) (equal p) /\
  Forall (fun r => dot (fst r) x <= inject_Z (snd r)) (below p).

(* v is attained, and nothing feasible is lower *)
Definition minimum (p : program) (v : Q) : Prop :=
  (exists x, feasible p x /\ objective p x == v) /\ (forall x, feasible p x -> v <= objective p x).

Definition infeasible (p : program) : Prop := forall x, ~ feasible p x.

(* Rows y (x, 1) with y = -1 or 1, one a sample; a hyperplane v has the margins r'v. *)
Definition separable (rows : list vector) : Prop := exists v, Forall (fun r => 0 < dot r v) rows.

(* no hyperplane has all margins at least 0 but those that have all margins 0 *)
Definition overlapping (rows : list vector) : Prop :=
  forall v, Forall (fun r => 0 <= dot r v) rows -> Forall (fun r => dot r v == 0) rows.

(* some hyperplane has all margins at least 0 and one above, none has all above *)
Definition weakly_separable (rows : list vector) : Prop :=
  (exists v, Forall (fun r => 0 <= dot r v) rows /\ Exists (fun r => 0 < dot r v) rows) /\ ~ separable rows.

Fixpoint mixture (weights : list Q) (points : list vector) (u : point) : Q :=
  match weights, points with
  | w :: weights', a :: points' => w * dot a u + mixture weights' points' u
  | _, _ => 0
  end.

Definition shares (weights : list Q) (points : list vector) : Prop :=
  length weights = length points /\ Forall (fun w => 0 <= w) weights /\ fold_right Qplus 0 weights == 1.

(* a point of one convex hull is a point of the other: the same whatever vector u it is multiplied with *)
Definition hulls_meet (first second : list vector) : Prop :=
  exists a b, shares a first /\ shares b second /\ forall u, mixture a first u == mixture b second u.

(* Numbers that can be added and compared, such as the reals: all that is asked of the values of losses. *)
Record ordered := Ordered {
  number :> Type;
  none : number;
  plus : number -> number -> number;
  less : number -> number -> Prop;
  less_left : forall a b c, less a b -> less (plus a c) (plus b c);
  less_right : forall a b c, less a b -> less (plus c a) (plus c b);
  less_less : forall a b c, less a b -> less b c -> less a c
}.

Definition falling (V : ordered) (loss : Q -> V) : Prop :=
  (forall p q, p == q -> loss p = loss q) /\ (forall p q, p < q -> less V (loss q) (loss p)).

Fixpoint total_loss (V : ordered) (losses : list (Q -> V)) (rows : list vector) (x : point) : V :=
  match losses, rows with
  | l :: losses', r :: rows' => plus V (l (dot r x)) (total_loss V losses' rows' x)
  | _, _ => none V
  end.

(* whatever falling losses of the margins are added up (logistic, exponential, with any weights): for every point there
   is a better one *)
Definition never_attained (rows : list vector) : Prop :=
  forall (V : ordered) (losses : list (Q -> V)), length losses = length rows -> Forall (falling V) losses ->
  forall x, exists x', less V (total_loss V losses rows x') (total_loss V losses rows x).

(* ---- integer vectors ------------------------------------------------------------------------------------------- *)

Fixpoint add (a b : vector) : vector :=
  match a, b with
  | [], _ => b
  | _, [] => a
  | c :: a', e :: b' => (c + e)%Z :: add a' b'
  end.

Definition times (k : Z) (a : vector) : vector := map (Z.mul k) a.

Fixpoint zdot (a b : vector) : Z :=
  match a, b with
  | c :: a', e :: b' => (c * e + zdot a' b')%Z
  | _, _ => 0%Z
  end.

(* rows times factors, added up *)
Fixpoint combined (ks : list Z) (rows : list vector) : vector :=
  match ks, rows with
  | k :: ks', r :: rows' => if Z.eqb k 0 then combined ks' rows' else add (times k r) (combined ks' rows')
  | _, _ => []
  end.

Definition all_zero (a : vector) : bool := forallb (Z.eqb 0) a.
Definition nonnegative (a : vector) : bool := forallb (Z.leb 0) a.

Definition over (k : positive) (z : vector) : point := map (fun n => n # k) z.

Lemma dot_add : forall a b x, dot (add a b) x == dot a x + dot b x.
Proof.
  induction a as [| c a IH]; intros b x; [simpl; ring |].
  destruct b as [| e b]; [simpl; destruct x; ring |].
  destruct x as [| y x]; simpl; [ring |].
  rewrite IH, inject_Z_plus. ring.
Qed.

Lemma dot_times : forall k a x, dot (times k a) x == inject_Z k * dot a x.
Proof.
  induction a as [| c a IH]; intros x; simpl; [ring |].
  destruct x as [| y x]; simpl; [ring |].
  rewrite IH, inject_Z_mult. ring.
Qed.

Lemma dot_all_zero : forall a x, all_zero a = true -> dot a x == 0.
Proof.
  induction a as [| c a IH]; intros x H; simpl in *; [reflexivity |].
  apply andb_prop in H. destruct H as [H1 H2]. apply Z.eqb_eq in H1. subst c.
  destruct x as [| y x]; [reflexivity |]. rewrite (IH x H2). ring.
Qed.

Lemma dot_over : forall a k z, inject_Z (Zpos k) * dot a (over k z) == inject_Z (zdot a z).
Proof.
  induction a as [| c a IH]; intros k z; simpl; [ring |].
  destruct z as [| n z]; simpl; [ring |].
  rewrite inject_Z_plus, inject_Z_mult, <- (IH k z).
  assert (inject_Z (Zpos k) * (n # k) == inject_Z n) as E by (unfold Qeq, Qmult, inject_Z; simpl; lia).
  rewrite <- E. ring.
Qed.

Lemma positive_integer : forall k, 0 < inject_Z (Zpos k).
Proof. intros k. unfold Qlt, inject_Z. simpl. lia. Qed.

Lemma combined_equal : forall ks rows x,
  Forall (fun r => dot (fst r) x == inject_Z (snd r)) rows ->
  dot (combined ks (map fst rows)) x == inject_Z (zdot ks (map snd rows)).
Proof.
  induction ks as [| k ks IH]; intros rows x H; simpl; [reflexivity |].
  destruct rows as [| r rows]; simpl; [reflexivity |].
  inversion H; subst. rewrite inject_Z_plus, inject_Z_mult, <- (IH rows x) by assumption.
  destruct (Z.eqb_spec k 0) as [E | E].
  - subst k. change (inject_Z 0) with 0. ring.
  - rewrite dot_add, dot_times. rewrite H2. ring.
Qed.

Lemma combined_below : forall ks rows x,
  nonnegative ks = true -> Forall (fun r => dot (fst r) x <= inject_Z (snd r)) rows ->
  dot (combined ks (map fst rows)) x <= inject_Z (zdot ks (map snd rows)).
Proof.
  induction ks as [| k ks IH]; intros rows x P H; simpl; [apply Qle_refl |].
  destruct rows as [| r rows]; simpl; [apply Qle_refl |].
  simpl in P. apply andb_prop in P. destruct P as [P1 P2]. apply Z.leb_le in P1.
  inversion H; subst. rewrite inject_Z_plus, inject_Z_mult. specialize (IH rows x P2 H3).
  assert (0 <= inject_Z k) as K by (rewrite Zle_Qle in P1; exact P1).
  destruct (Z.eqb_spec k 0) as [E | E].
  - subst k. change (inject_Z 0) with 0. lra.
  - rewrite dot_add, dot_times. nra.
Qed.

(* ---- the minimum: weak duality at the point, and the point itself -------------------------------------------- *)

(* k (m'z/k + t) for each square *)
Definition reach (k : positive) (z : vector) (s : Z * vector * Z) : Z :=
  let '(_, m, t) := s in (zdot m z + t * Zpos k)%Z.

(* w (k u)^2 >= 2 k w U u - w U^2 for u = m'x + t: the slope of the tangent at z/k, and its height *)
Fixpoint slope (k : positive) (z : vector) (l : list (Z * vector * Z)) : vector :=
  match l with
  | [] => []
  | s :: l' => let '(w, m, _) := s in add (times (2 * w * reach k z s) m) (slope k z l')
  end.

Fixpoint height (k : positive) (z : vector) (l : list (Z * vector * Z)) : Z :=
  match l with
  | [] => 0
  | s :: l' =>
      let '(w, _, t) := s in
      let u := reach k z s in (w * u * (2 * Zpos k * t - u) + height k z l')%Z
  end.

Fixpoint squared (k : positive) (z : vector) (l : list (Z * vector * Z)) : Z :=
  match l with
  | [] => 0
  | s :: l' => let '(w, _, _) := s in let u := reach k z s in (w * (u * u) + squared k z l')%Z
  end.

Definition convex (l : list (Z * vector * Z)) : bool := forallb (fun s => Z.leb 0 (fst (fst s))) l.

Lemma tangent : forall k z l x, convex l = true ->
  inject_Z (Zpos k) * dot (slope k z l) x + inject_Z (height k z l)
  <= inject_Z (Zpos k) * inject_Z (Zpos k) * sum_of_squares l x.
Proof.
  intros k z l x. induction l as [| [[w m] t] l IH]; intros H; simpl.
  - change (inject_Z 0) with 0. lra.
  - simpl in H. apply andb_prop in H. destruct H as [H1 H2]. apply Z.leb_le in H1. specialize (IH H2).
    rewrite dot_add, dot_times.
    set (u := (zdot m z + t * Zpos k)%Z).
    assert (0 <= inject_Z w) as W by (rewrite Zle_Qle in H1; exact H1).
    replace (2 * w * u)%Z with (2 * (w * u))%Z by ring.
    replace (w * u * (2 * Zpos k * t - u))%Z with (2 * (Zpos k * (t * (w * u))) + - (w * (u * u)))%Z by ring.
    repeat (rewrite inject_Z_plus || rewrite inject_Z_mult || rewrite inject_Z_opp).
    change (inject_Z 2) with 2.
    set (K := inject_Z (Zpos k)) in *. set (U := inject_Z u). set (V := dot m x). set (T := inject_Z t).
    set (W' := inject_Z w) in *.
    assert (0 <= W' * ((K * (V + T) - U) * (K * (V + T) - U))) as S.
    { apply Qmult_le_0_compat; [exact W |]. generalize (K * (V + T) - U). intros q. nra. }
    lra.
Qed.

Lemma squared_at : forall k z l,
  inject_Z (Zpos k) * inject_Z (Zpos k) * sum_of_squares l (over k z) == inject_Z (squared k z l).
Proof.
  intros k z l. induction l as [| [[w m] t] l IH]; simpl; [ring |].
  rewrite inject_Z_plus, <- IH.
  repeat rewrite inject_Z_mult. repeat rewrite inject_Z_plus. repeat rewrite inject_Z_mult.
  rewrite <- (dot_over m k z). ring.
Qed.

(* the point is z/k, the multipliers of the equalities are nu/k, those of the inequalities lam/k *)
Definition stationary (p : program) (k : positive) (z nu lam : vector) : bool :=
  convex (squares p) && nonnegative lam &&
  all_zero (add (add (slope k z (squares p)) (times (Zpos k) (linear p)))
                (add (combined nu (map fst (equal p))) (combined lam (map fst (below p))))).

Definition dual_value (p : program) (k : positive) (z nu lam : vector) : Z :=
  (height k z (squares p) + Zpos k * Zpos k * constant p
   - Zpos k * (zdot nu (map snd (equal p)) + zdot lam (map snd (below p))))%Z.

Definition primal_value (p : program) (k : positive) (z : vector) : Z :=
  (squared k z (squares p) + Zpos k * (zdot (linear p) z + Zpos k * constant p))%Z.

Definition fits (p : program) (k : positive) (z : vector) : bool :=
  forallb (fun r => Z.eqb (zdot (fst r) z) (Zpos k * snd r)) (equal p) &&
  forallb (fun r => Z.leb (zdot (fst r) z) (Zpos k * snd r)) (below p).

Lemma scaled_objective : forall p x,
  inject_Z (Zpos (scale p)) * objective p x == sum_of_squares (squares p) x + dot (linear p) x + inject_Z (constant p).
Proof.
  intros p x. unfold objective.
  assert (inject_Z (Zpos (scale p)) * (1 # scale p) == 1) as One by (unfold Qeq, Qmult, inject_Z; simpl; lia).
  generalize (sum_of_squares (squares p) x + dot (linear p) x + inject_Z (constant p)). intros f.
  setoid_replace (inject_Z (Zpos (scale p)) * (f * (1 # scale p)))
    with (f * (inject_Z (Zpos (scale p)) * (1 # scale p))) by ring.
  rewrite One. ring.
Qed.

Theorem weak_duality : forall p k z nu lam, stationary p k z nu lam = true ->
  forall x, feasible p x ->
  inject_Z (dual_value p k z nu lam) <= inject_Z (Zpos (scale p)) * (inject_Z (Zpos k) * inject_Z (Zpos k)) * objective p x.
Proof.
  intros p k z nu lam H x [E B]. unfold stationary in H.
  apply andb_prop in H. destruct H as [H Z0]. apply andb_prop in H. destruct H as [C L].
  assert (T := tangent k z (squares p) x C).
  assert (A := combined_equal nu (equal p) x E).
  assert (D := combined_below lam (below p) x L B).
  assert (S := dot_all_zero _ x Z0). repeat rewrite dot_add in S. rewrite dot_times, A in S.
  assert (P := positive_integer k).
  unfold dual_value, Z.sub. repeat (rewrite inject_Z_plus || rewrite inject_Z_mult || rewrite inject_Z_opp).
  setoid_replace (inject_Z (Zpos (scale p)) * (inject_Z (Zpos k) * inject_Z (Zpos k)) * objective p x)
    with (inject_Z (Zpos k) * inject_Z (Zpos k) * (inject_Z (Zpos (scale p)) * objective p x)) by ring.
  rewrite scaled_objective.
  set (K := inject_Z (Zpos k)) in *. set (Sq := sum_of_squares (squares p) x) in *.
  set (dl := dot (linear p) x) in *. set (c := inject_Z (constant p)).
  set (ds := dot (slope k z (squares p)) x) in *. set (db := dot (combined lam (map fst (below p))) x) in *.
  set (nb := inject_Z (zdot nu (map snd (equal p)))) in *. set (lh := inject_Z (zdot lam (map snd (below p)))) in *.
  set (h := inject_Z (height k z (squares p))) in *.
  assert (K * db <= K * lh) as M by (apply Qmult_le_l; assumption).
  assert (K * (ds + K * dl + (nb + db)) == 0) as N by (rewrite S; ring).
  lra.
Qed.

Lemma fits_feasible : forall p k z, fits p k z = true -> feasible p (over k z).
Proof.
  intros p k z H. unfold fits in H. apply andb_prop in H. destruct H as [E B].
  assert (P := positive_integer k).
  split; apply Forall_forall; intros r I.
  - rewrite forallb_forall in E. specialize (E r I). apply Z.eqb_eq in E.
    apply (Qmult_inj_l _ _ (inject_Z (Zpos k))); [lra |]. rewrite dot_over, E, inject_Z_mult. reflexivity.
  - rewrite forallb_forall in B. specialize (B r I). apply Z.leb_le in B.
    apply (Qmult_le_l _ _ (inject_Z (Zpos k))); [exact P |]. rewrite dot_over, <- inject_Z_mult, <- Zle_Qle. exact B.
Qed.

(* v is between: the multipliers show that nothing is lower, the point that it is attained *)
Definition check (p : program) (k : positive) (z nu lam : vector) (v : Q) : bool :=
  stationary p k z nu lam && fits p k z &&
  Z.leb (Qnum v * (Zpos (scale p) * (Zpos k * Zpos k))) (Zpos (Qden v) * dual_value p k z nu lam) &&
  Z.eqb (Qnum v * (Zpos (scale p) * (Zpos k * Zpos k))) (Zpos (Qden v) * primal_value p k z).

Lemma denominator : forall v, inject_Z (Zpos (Qden v)) * v == inject_Z (Qnum v).
Proof. intros [n d]. unfold Qeq, Qmult, inject_Z. simpl. lia. Qed.

Lemma value_at : forall p k z,
  inject_Z (Zpos (scale p)) * (inject_Z (Zpos k) * inject_Z (Zpos k)) * objective p (over k z)
  == inject_Z (primal_value p k z).
Proof.
  intros p k z. unfold primal_value. repeat (rewrite inject_Z_mult || rewrite inject_Z_plus).
  rewrite <- squared_at, <- (dot_over (linear p) k z).
  setoid_replace (inject_Z (Zpos (scale p)) * (inject_Z (Zpos k) * inject_Z (Zpos k)) * objective p (over k z))
    with (inject_Z (Zpos k) * inject_Z (Zpos k) * (inject_Z (Zpos (scale p)) * objective p (over k z))) by ring.
  rewrite scaled_objective. ring.
Qed.

Theorem minimum_checked : forall p k z nu lam v, check p k z nu lam v = true -> minimum p v.
Proof.
  intros p k z nu lam v H. unfold check in H.
  apply andb_prop in H. destruct H as [H V]. apply andb_prop in H. destruct H as [H L].
  apply andb_prop in H. destruct H as [S F]. apply Z.eqb_eq in V. apply Z.leb_le in L.
  assert (N := denominator v). assert (D := positive_integer (Qden v)).
  assert (E := value_at p k z). assert (B := weak_duality p k z nu lam S).
  assert (0 < inject_Z (Zpos (scale p)) * (inject_Z (Zpos k) * inject_Z (Zpos k))) as W
    by (repeat apply Qmult_lt_0_compat; apply positive_integer).
  rewrite Zle_Qle in L. apply (f_equal inject_Z) in V. repeat rewrite inject_Z_mult in L. repeat rewrite inject_Z_mult in V.
  set (M := inject_Z (Zpos (scale p)) * (inject_Z (Zpos k) * inject_Z (Zpos k))) in *.
  set (d := inject_Z (Zpos (Qden v))) in *.
  assert (0 < d * M) as DM by (apply Qmult_lt_0_compat; assumption).
  split.
  - exists (over k z). split; [apply fits_feasible; exact F |].
    apply (Qmult_inj_l _ _ (d * M)); [lra |].
    setoid_replace (d * M * objective p (over k z)) with (d * (M * objective p (over k z))) by ring.
    setoid_replace (d * M * v) with (d * v * M) by ring. rewrite E, N, V. reflexivity.
  - intros x G. specialize (B x G).
    apply (Qmult_le_l _ _ (d * M)); [exact DM |].
    setoid_replace (d * M * v) with (d * v * M) by ring. rewrite N.
    setoid_replace (d * M * objective p x) with (d * (M * objective p x)) by ring.
    apply (Qle_trans _ _ _ L). apply Qmult_le_l; assumption.
Qed.

(* ---- contradictions -------------------------------------------------------------------------------------------- *)

Definition contradicts (p : program) (nu lam : vector) : bool :=
  nonnegative lam && all_zero (add (combined nu (map fst (equal p))) (combined lam (map fst (below p)))) &&
  Z.ltb (zdot nu (map snd (equal p)) + zdot lam (map snd (below p))) 0.

Theorem infeasible_checked : forall p nu lam, contradicts p nu lam = true -> infeasible p.
Proof.
  intros p nu lam H x [E B]. unfold contradicts in H.
  apply andb_prop in H. destruct H as [H N]. apply andb_prop in H. destruct H as [L Z0]. apply Z.ltb_lt in N.
  assert (A := combined_equal nu (equal p) x E). assert (D := combined_below lam (below p) x L B).
  assert (S := dot_all_zero _ x Z0). rewrite dot_add, A in S.
  rewrite Zlt_Qlt, inject_Z_plus in N. change (inject_Z 0) with 0 in N. lra.
Qed.

Definition zsum (l : list Z) : Z := fold_right Z.add 0%Z l.

Definition meet (k : positive) (a b : list Z) (first second : list vector) : bool :=
  Nat.eqb (length a) (length first) && Nat.eqb (length b) (length second) && nonnegative a && nonnegative b &&
  Z.eqb (zsum a) (Zpos k) && Z.eqb (zsum b) (Zpos k) &&
  all_zero (add (combined a first) (times (-1) (combined b second))).

Lemma dot_combined : forall ks rows x k,
  dot (combined ks rows) x == inject_Z (Zpos k) * mixture (over k ks) rows x.
Proof.
  induction ks as [| c ks IH]; intros rows x k; simpl; [ring |].
  destruct rows as [| r rows]; simpl; [ring |].
  assert (inject_Z (Zpos k) * (c # k) == inject_Z c) as E by (unfold Qeq, Qmult, inject_Z; simpl; lia).
  setoid_replace (inject_Z (Zpos k) * ((c # k) * dot r x + mixture (over k ks) rows x))
    with (inject_Z (Zpos k) * (c # k) * dot r x + inject_Z (Zpos k) * mixture (over k ks) rows x) by ring.
  rewrite E, <- (IH rows x k). destruct (Z.eqb_spec c 0) as [Z0 | Z0].
  - subst c. change (inject_Z 0) with 0. ring.
  - rewrite dot_add, dot_times. reflexivity.
Qed.

Lemma shares_checked : forall k a points,
  length a = length points -> nonnegative a = true -> zsum a = Zpos k -> shares (over k a) points.
Proof.
  intros k a points L N S. split; [unfold over; rewrite map_length; exact L | split].
  - unfold nonnegative in N. rewrite forallb_forall in N. apply Forall_forall. intros q I.
    apply in_map_iff in I. destruct I as [n [E I]]. subst q. specialize (N n I). apply Z.leb_le in N.
    unfold Qle. simpl. lia.
  - assert (fold_right Qplus 0 (over k a) == (zsum a) # k) as E.
    { clear. induction a as [| c a IH]; simpl; [reflexivity |]. rewrite IH. unfold Qeq, Qplus. simpl. lia. }
    rewrite E, S. unfold Qeq. simpl. lia.
Qed.

Theorem hulls_meet_checked : forall k a b first second, meet k a b first second = true -> hulls_meet first second.
Proof.
  intros k a b first second H. unfold meet in H.
  repeat (apply andb_prop in H; destruct H as [H ?]).
  apply Nat.eqb_eq in H. apply Nat.eqb_eq in H5. apply Z.eqb_eq in H1. apply Z.eqb_eq in H2.
  exists (over k a), (over k b). split; [apply shares_checked; assumption |].
  split; [apply shares_checked; assumption |].
  intros u. assert (S := dot_all_zero _ u H0). rewrite dot_add, dot_times, (dot_combined a first u k),
    (dot_combined b second u k) in S.
  apply (Qmult_inj_l _ _ (inject_Z (Zpos k))); [assert (P := positive_integer k); lra |].
  change (inject_Z (-1)) with (-1) in S. lra.
Qed.

(* ---- separability ---------------------------------------------------------------------------------------------- *)

Definition integers (v : vector) : point := over 1 v.

Lemma dot_integers : forall a v, dot a (integers v) == inject_Z (zdot a v).
Proof.
  intros a v. unfold integers. rewrite <- (dot_over a 1 v). change (inject_Z 1) with 1. ring.
Qed.

Definition separates (v : vector) (rows : list vector) : bool := forallb (fun r => Z.ltb 0 (zdot r v)) rows.
Definition keeps (v : vector) (rows : list vector) : bool := forallb (fun r => Z.leb 0 (zdot r v)) rows.
Definition moves (v : vector) (rows : list vector) : bool := existsb (fun r => Z.ltb 0 (zdot r v)) rows.

Lemma keeps_checked : forall v rows, keeps v rows = true -> Forall (fun r => 0 <= dot r (integers v)) rows.
Proof.
  intros v rows H. apply Forall_forall. intros r I. unfold keeps in H. rewrite forallb_forall in H.
  specialize (H r I). apply Z.leb_le in H. rewrite Zle_Qle in H. rewrite dot_integers. exact H.
Qed.

Lemma above_checked : forall v r, Z.ltb 0 (zdot r v) = true -> 0 < dot r (integers v).
Proof. intros v r H. apply Z.ltb_lt in H. rewrite Zlt_Qlt in H. rewrite dot_integers. exact H. Qed.

Theorem separable_checked : forall v rows, separates v rows = true -> separable rows.
Proof.
  intros v rows H. exists (integers v). apply Forall_forall. intros r I. unfold separates in H.
  rewrite forallb_forall in H. apply above_checked, H, I.
Qed.

(* factors that are not negative, and one of them positive *)
Definition weighs (ks : list Z) (rows : list vector) : bool :=
  nonnegative ks && existsb (Z.ltb 0) (firstn (length rows) ks).

Lemma combined_above : forall ks rows v, nonnegative ks = true -> Forall (fun r => 0 <= dot r v) rows ->
  0 <= dot (combined ks rows) v.
Proof.
  induction ks as [| k ks IH]; intros rows v P H; simpl; [apply Qle_refl |].
  destruct rows as [| r rows]; simpl; [apply Qle_refl |].
  simpl in P. apply andb_prop in P. destruct P as [P1 P2]. apply Z.leb_le in P1. inversion H; subst.
  specialize (IH rows v P2 H3). rewrite Zle_Qle in P1. change (inject_Z 0) with 0 in P1.
  destruct (Z.eqb k 0); [exact IH | rewrite dot_add, dot_times; nra].
Qed.

Lemma combined_strictly : forall ks rows v, weighs ks rows = true -> Forall (fun r => 0 < dot r v) rows ->
  0 < dot (combined ks rows) v.
Proof.
  induction ks as [| k ks IH]; intros rows v W H; unfold weighs in W; simpl in W;
    [destruct rows; discriminate |].
  destruct rows as [| r rows]; [rewrite andb_false_r in W; discriminate |].
  apply andb_prop in W. destruct W as [P W]. apply andb_prop in P. destruct P as [P1 P2].
  simpl in W. apply Z.leb_le in P1. inversion H; subst.
  assert (Forall (fun r => 0 <= dot r v) rows) as A by (revert H3; apply Forall_impl; intros; lra).
  assert (B := combined_above ks rows v P2 A). simpl.
  destruct (Z.eqb_spec k 0) as [E | E].
  - apply IH; [| assumption]. unfold weighs. rewrite P2. subst k. simpl in W. exact W.
  - assert (0 < k)%Z as K by lia. rewrite Zlt_Qlt in K. change (inject_Z 0) with 0 in K.
    rewrite dot_add, dot_times. assert (0 < inject_Z k * dot r v) by (apply Qmult_lt_0_compat; assumption). lra.
Qed.

Definition blocks (ks : list Z) (rows : list vector) : bool := weighs ks rows && all_zero (combined ks rows).

Lemma not_separable : forall ks rows, blocks ks rows = true -> ~ separable rows.
Proof.
  intros ks rows H [v S]. unfold blocks in H. apply andb_prop in H. destruct H as [W Z0].
  assert (P := combined_strictly ks rows v W S). rewrite (dot_all_zero _ v Z0) in P. lra.
Qed.

Theorem weakly_separable_checked : forall v ks rows,
  keeps v rows && moves v rows && blocks ks rows = true -> weakly_separable rows.
Proof.
  intros v ks rows H. apply andb_prop in H. destruct H as [H B]. apply andb_prop in H. destruct H as [K M].
  split; [| exact (not_separable ks rows B)]. exists (integers v). split; [apply keeps_checked; exact K |].
  unfold moves in M. apply existsb_exists in M. destruct M as [r [I M]].
  apply Exists_exists. exists r. split; [exact I | apply above_checked; exact M].
Qed.

Definition positive_on (ks : list Z) (rows : list vector) : bool :=
  Nat.eqb (length ks) (length rows) && forallb (Z.ltb 0) ks && all_zero (combined ks rows).

Lemma nothing_left : forall ks rows v, length ks = length rows -> forallb (Z.ltb 0) ks = true ->
  Forall (fun r => 0 <= dot r v) rows -> dot (combined ks rows) v <= 0 -> Forall (fun r => dot r v == 0) rows.
Proof.
  induction ks as [| k ks IH]; intros rows v L P H S; destruct rows as [| r rows]; simpl in L; try discriminate;
    [constructor |].
  simpl in P. apply andb_prop in P. destruct P as [P1 P2]. apply Z.ltb_lt in P1. inversion H; subst.
  assert (nonnegative ks = true) as N.
  { unfold nonnegative. apply forallb_forall. intros c I. rewrite forallb_forall in P2. specialize (P2 c I).
    apply Z.ltb_lt in P2. apply Z.leb_le. lia. }
  assert (A := combined_above ks rows v N H3). simpl in S.
  destruct (Z.eqb_spec k 0) as [E | E]; [lia |]. rewrite dot_add, dot_times in S.
  rewrite Zlt_Qlt in P1. change (inject_Z 0) with 0 in P1.
  assert (dot r v == 0) as R.
  { destruct (Qlt_le_dec 0 (dot r v)) as [G | G]; [| lra].
    assert (0 < inject_Z k * dot r v) by (apply Qmult_lt_0_compat; assumption). lra. }
  constructor; [exact R |]. apply IH; try assumption; [lia |].
  rewrite R in S. lra.
Qed.

Theorem overlapping_checked : forall ks rows, positive_on ks rows = true -> overlapping rows.
Proof.
  intros ks rows H v K. unfold positive_on in H. apply andb_prop in H. destruct H as [H Z0].
  apply andb_prop in H. destruct H as [L P]. apply Nat.eqb_eq in L.
  apply (nothing_left ks rows v L P K). rewrite (dot_all_zero _ v Z0). apply Qle_refl.
Qed.

(* ---- likelihoods without a maximum ------------------------------------------------------------------------------ *)

Fixpoint moved (x : point) (d : vector) : point :=
  match x, d with
  | y :: x', c :: d' => y + inject_Z c :: moved x' d'
  | [], _ => map inject_Z d
  | _, [] => x
  end.

Lemma dot_moved : forall a x d, dot a (moved x d) == dot a x + inject_Z (zdot a d).
Proof.
  induction a as [| c a IH]; intros x d; simpl.
  - change (inject_Z 0) with 0. ring.
  - destruct x as [| y x]; destruct d as [| e d]; simpl; try (change (inject_Z 0) with 0; ring).
    + rewrite inject_Z_plus, inject_Z_mult. specialize (IH [] d). destruct d; simpl in *; rewrite IH;
      destruct a; simpl; ring.
    + rewrite inject_Z_plus, inject_Z_mult, IH. ring.
Qed.

Lemma total_falls : forall (V : ordered) losses rows d x, length losses = length rows -> Forall (falling V) losses ->
  keeps d rows = true ->
  (total_loss V losses rows (moved x d) = total_loss V losses rows x \/
   less V (total_loss V losses rows (moved x d)) (total_loss V losses rows x)) /\
  (moves d rows = true -> less V (total_loss V losses rows (moved x d)) (total_loss V losses rows x)).
Proof.
  intros V losses. induction losses as [| l losses IH]; intros rows d x L F K;
    destruct rows as [| r rows]; simpl in L; try discriminate.
  - simpl. split; [left; reflexivity | discriminate].
  - inversion F as [| l' ls [Same Falls] F' E]; subst. simpl in K. apply andb_prop in K. destruct K as [K1 K2].
    apply Z.leb_le in K1. destruct (IH rows d x ltac:(lia) F' K2) as [Weak Strict].
    simpl. destruct (Z.ltb_spec 0 (zdot r d)) as [Up | Still].
    + assert (less V (l (dot r (moved x d))) (l (dot r x))) as Less.
      { apply Falls. rewrite dot_moved. rewrite Zlt_Qlt in Up. change (inject_Z 0) with 0 in Up. lra. }
      assert (less V (plus V (l (dot r (moved x d))) (total_loss V losses rows (moved x d)))
                     (plus V (l (dot r x)) (total_loss V losses rows x))) as Done.
      { destruct Weak as [Eq | Lt].
        - rewrite Eq. apply less_left. exact Less.
        - apply (less_less V _ (plus V (l (dot r x)) (total_loss V losses rows (moved x d))));
            [apply less_left; exact Less | apply less_right; exact Lt]. }
      split; [right; exact Done | intros _; exact Done].
    + assert (zdot r d = 0)%Z as Z0 by lia.
      assert (l (dot r (moved x d)) = l (dot r x)) as Eq.
      { apply Same. rewrite dot_moved, Z0. change (inject_Z 0) with 0. ring. }
      rewrite Eq. split.
      * destruct Weak as [Eq' | Lt]; [left; rewrite Eq'; reflexivity | right; apply less_right; exact Lt].
      * intros M. apply less_right. apply Strict. exact M.
Qed.

Theorem never_attained_checked : forall d rows, keeps d rows && moves d rows = true -> never_attained rows.
Proof.
  intros d rows H V losses L F x. apply andb_prop in H. destruct H as [K M].
  exists (moved x d). exact (proj2 (total_falls V losses rows d x L F K) M).
Qed.

(* ---- the classifiers -------------------------------------------------------------------------------------------- *)

(* A sample (x, y) stands for the features x/d. Of two classes y is -1 or 1, else y/d is the target. Unknowns are, in
   this order, n coefficients, the intercept where there is one, a slack for each sample. *)
Definition sample := (vector * Z)%type.

Definition unit (j : nat) (c : Z) : vector := repeat 0%Z j ++ [c].
Definition norm (w : Z) (n : nat) : list (Z * vector * Z) := map (fun j => (w, unit j 1, 0%Z)) (seq 0 n).

(* d f(x), and d y f(x) *)
Definition score (d : Z) (intercept : bool) (s : sample) : vector := if intercept then fst s ++ [d] else fst s.
Definition margin (d : Z) (intercept : bool) (s : sample) : vector := times (snd s) (score d intercept s).
Definition margins (d : Z) (intercept : bool) (samples : list sample) : list vector := map (margin d intercept) samples.

Definition first_slack (n : nat) (intercept : bool) : nat := if intercept then S n else n.

(* a vector of each sample less d times its slack, at most a number of each sample *)
Definition slack_rows (d : Z) (start : nat) (left : sample -> vector) (right : sample -> Z) (samples : list sample) :=
  map (fun '(j, s) => (add (left s) (unit j (- d)), right s)) (combine (seq start (length samples)) samples).

Definition signs (start : nat) (samples : list sample) : list (vector * Z) :=
  map (fun j => (unit j (-1), 0%Z)) (seq start (length samples)).

(* 1/2 |coef|^2 with all margins at least 1 *)
Definition hard_margin (d : Z) (n : nat) (intercept : bool) (samples : list sample) : program :=
  Program 2 (norm 1 n) [] 0 [] (map (fun s => (times (-1) (margin d intercept s), (- d)%Z)) samples).

(* 1/2 |coef|^2 + sum of costs/e times slack, margin >= 1 - slack, slack >= 0 *)
Definition soft_margin (d : Z) (n : nat) (intercept : bool) (e : positive) (costs : vector) (samples : list sample) :=
  let start := first_slack n intercept in
  Program (2 * e) (norm (Zpos e) n) (repeat 0%Z start ++ times 2 costs) 0 []
    (slack_rows d start (fun s => times (-1) (margin d intercept s)) (fun _ => (- d)%Z) samples ++ signs start samples).

(* 1/2 |coef|^2 + sum of costs/e times slack^2, margin >= 1 - slack *)
Definition squared_hinge (d : Z) (n : nat) (intercept : bool) (e : positive) (costs : vector) (samples : list sample) :=
  let start := first_slack n intercept in
  Program (2 * e)
    (norm (Zpos e) n ++ map (fun '(j, c) => ((2 * c)%Z, unit j 1, 0%Z)) (combine (seq start (length costs)) costs)) [] 0 []
    (slack_rows d start (fun s => times (-1) (margin d intercept s)) (fun _ => (- d)%Z) samples).

(* 1/2 sum of weights/e times (f(x) - y/d)^2 + (l2/e)/2 |coef|^2 *)
Definition least_squares (d : positive) (n : nat) (intercept : bool) (e : positive) (weights : vector) (l2 : Z)
  (samples : list sample) :=
  Program (2 * e * (d * d))
    (map (fun '(w, s) => (w, score (Zpos d) intercept s, (- snd s)%Z)) (combine weights samples)
     ++ norm (l2 * Zpos (d * d)) n) [] 0 [] [].

(* sum of weights/e times slack, slack >= f(x) - y/d, slack >= y/d - f(x) *)
Definition least_absolute (d : Z) (n : nat) (intercept : bool) (e : positive) (weights : vector) (samples : list sample) :=
  let start := first_slack n intercept in
  Program e [] (repeat 0%Z start ++ weights) 0 []
    (slack_rows d start (score d intercept) snd samples
     ++ slack_rows d start (fun s => times (-1) (score d intercept s)) (fun s => (- snd s)%Z) samples).

(* sum of weights/e times slack, slack >= - margin, slack >= 0, the weighted mean of all margins 1 *)
Definition perceptron (d : Z) (n : nat) (intercept : bool) (e : positive) (weights : vector) (samples : list sample) :=
  let start := first_slack n intercept in
  Program e [] (repeat 0%Z start ++ weights) 0
    [(combined weights (margins d intercept samples), (d * zsum weights)%Z)]
    (slack_rows d start (fun s => times (-1) (margin d intercept s)) (fun _ => 0%Z) samples ++ signs start samples).

Definition of_class (y : Z) (samples : list sample) : list vector := map fst (filter (fun s => Z.eqb (snd s) y) samples).
