import description from './counterparts.json' with { type: 'json' };

export type Trainer = 'ragen' | 'verl' | 'verl-agent' | 'trl';

/** A setting, or all settings with a prefix that ends with `.` or `_`. */
export interface Counterpart {
  setting: string;
  /** Paths in run.json. */
  here?: readonly string[];
  /** What differs. */
  note?: string;
  /** Why it has no counterpart. */
  why?: string;
}

/**
 * Settings of other trainers and their counterparts: the source of the tables in docs/algorithms.md and of the reasons that imports give for settings
 * without a counterpart. A test compares them with the importers. RAGEN and verl-agent also have verl's settings.
 */
export const counterparts: Readonly<Record<Trainer, readonly Counterpart[]>> = description;

const oneDevice = 'the trainer runs on one device and plans its memory itself';

/** Reasons for settings of machines, logs and data sets, by pattern. */
export const patterns: readonly [RegExp, string][] = [
  [
    /^(system|ray_init|global_profiler|hydra|micro_batch_size_per_gpu)(\.|$)|(^|\.)(fsdp_config|megatron|profiler|checkpoint|model|ref|data_loader_seed)(\.|$)/,
    oneDevice,
  ],
  [
    /n_gpus_per_node|nnodes|gpu_memory|tensor_model_parallel|micro_batch|batched_tokens|eager|free_cache|dynamic_bsz|max_token_len|ulysses|torch_compile|balance_batch|dataloader|num_workers|vllm|gradient_checkpointing|bf16|fp16|deepspeed|load_format|dtype|max_num_seqs|disable_log|chunked_prefill|engine|use_ref|tp_size_check|strategy$|del_local_ckpt/,
    oneDevice,
  ],
  [
    /(^|\.)(project_name|experiment_name|logger|run_name|report_to|num_completions_to_print|validation_metrics_csv|log_\w+|logging_\w+|generations_to_log_to_wandb|local_log_dir|default_\w+_dir|output_dir|rollout_data_dir|validation_data_dir|push_to_hub|hub_\w+|wandb_\w+)(\.|$)/,
    'every run is recorded in its folder',
  ],
  [
    /dataset|_prompt_length$|prompt_length$|prompt_key|tokenizer/,
    'episodes come from environments, not from a data set',
  ],
];

/** Returns the counterpart of a setting: its own, or that of its longest prefix. */
export function counterpartOf(trainers: readonly Trainer[], setting: string): Counterpart | undefined {
  const isOf = ({ setting: own }: Counterpart) => own === setting || (/[._]$/.test(own) && setting.startsWith(own));
  const all = trainers.flatMap((trainer) => counterparts[trainer].filter(isOf));
  return all.sort((a, b) => b.setting.length - a.setting.length)[0];
}

/** Returns why an import does not use a setting. */
export function reasonOf(trainers: readonly Trainer[], setting: string): string {
  const own = counterpartOf(trainers, setting);
  if (own) return own.why ?? 'it has no effect with these settings';
  return patterns.find(([pattern]) => pattern.test(setting))?.[1] ?? 'unknown setting, or no counterpart';
}
